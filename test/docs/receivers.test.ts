/** The receivers that docs/receivers.md shows are run as they stand there. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { signatureBy, signingKey } from '../../src/channels/webhook/signature.ts';
import { until } from '../support/until.ts';
import { blocksOf, readDocument } from './documents.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
const MESSAGE = { type: 'inspection.critical', data: { protocol: 'Lending Pool', text: 'é' } };
const BODY = JSON.stringify(MESSAGE);
const BATCH = JSON.stringify({ type: 'batch', data: { items: [MESSAGE, { ...MESSAGE, type: 'inspection.ok' }] } });

const RECEIVERS = [
  { language: 'js', program: process.execPath, file: 'receiver.mjs' },
  { language: 'python', program: 'python3', file: 'receiver.py' },
];

const isInstalled = (program: string): boolean => spawnSync(program, ['--version']).status === 0;

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });

const startReceiver = async ({ language, program, file }: (typeof RECEIVERS)[number]) => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-receiver-'));
  const [source = ''] = blocksOf(readDocument('docs/receivers.md'), language);
  await writeFile(join(directory, file), source);
  const port = await freePort();
  const child = spawn(program, [join(directory, file)], {
    env: { ...process.env, WEBHOOK_SECRET: SECRET, PORT: `${port}` },
  });
  const ended = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill();
    await ended;
    await rm(directory, { recursive: true });
  });
  let printed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  const url = `http://127.0.0.1:${port}/`;
  await until('the receiver answers', () =>
    fetch(url, { method: 'POST', body: '{}' }).then(
      ({ status }) => status === 401,
      () => false,
    ),
  );
  return { url, printed: () => printed };
};

interface Sending {
  id?: string;
  secrets?: readonly string[];
  ageSeconds?: number;
  /** What is signed. */
  body?: string;
  sent?: string;
}

const send = async (
  url: string,
  { id = 'msg_1', secrets = [SECRET], ageSeconds = 0, body = BODY, sent = body }: Sending = {},
) => {
  const timestamp = `${Math.floor(Date.now() / 1000) - ageSeconds}`;
  const signature = secrets.map((one) => signatureBy(signingKey(one), { id, timestamp, body })).join(' ');
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  return (await fetch(url, { method: 'POST', headers, body: sent })).status;
};

describe.each(RECEIVERS)('the receiver in $language', (receiver) => {
  test.skipIf(!isInstalled(receiver.program))('takes what is genuine, once, and refuses the rest', async () => {
    const { url, printed } = await startReceiver(receiver);
    expect(await send(url)).toBe(204);
    expect(await send(url)).toBe(204);
    expect(await send(url, { secrets: [OTHER] })).toBe(401);
    expect(await send(url, { sent: BODY.replace('Pool', 'Fool') })).toBe(401);
    expect(await send(url, { ageSeconds: 600 })).toBe(401);
    expect(await send(url, { id: 'msg_2', secrets: [OTHER, SECRET] })).toBe(204);
    await until('it has printed both', () => printed().split('\n').length > 2);
    expect(printed()).toBe('inspection.critical Lending Pool\ninspection.critical Lending Pool\n');
  });

  test.skipIf(!isInstalled(receiver.program))('takes each item of a batch', async () => {
    const { url, printed } = await startReceiver(receiver);
    expect(await send(url, { body: BATCH })).toBe(204);
    await until('it has printed both', () => printed().split('\n').length > 2);
    expect(printed()).toBe('inspection.critical Lending Pool\ninspection.ok Lending Pool\n');
  });
});
