/** `tocsin preview`: what people would get, by the config, without sending. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/alert.ts';
import { notificationId } from '../../src/service/wire.ts';
import { runInProcess } from './in-process.ts';
import { startServiceWorld } from './service-world.ts';

const CONFIG = `services:
  - name: main
    baseUrl: http://127.0.0.1:9
    apiKey: \${NOT_SET}
channels:
  telegram:
    botToken: \${NOT_SET_EITHER}
protocols:
  overrides:
    Vault:
      prefix: "[staging]"
links:
  - label: Simulator
    url: https://simulator.example.com/{hash}
templates:
  - types: [inspection.downgraded]
    title: "Calm down: {{ protocol }}"
  - types: [inspection.vanished]
    text: "{{ nobody }}"
`;

let room = '';
beforeAll(async () => {
  room = await mkdtemp(join(tmpdir(), 'tocsin-preview-test-'));
  await writeFile(join(room, 'tocsin.yaml'), CONFIG);
});
afterAll(() => rm(room, { recursive: true, force: true }));

const preview = (...args: string[]) =>
  runInProcess(['preview', ...args], { env: { TOCSIN_CONFIG: join(room, 'tocsin.yaml') } });

describe('a sample', () => {
  test('is shown for the kinds that the config sets up, in its words, without any secret', async () => {
    const { code, out } = await preview('--protocol', 'Vault');
    expect(code).toBe(0);
    expect(out).toMatch(/^--- telegram ---\n\[staging\] 🔴 CRITICAL · Vault · Pool A\n/);
    expect(out).toContain('Token balance dropped 90% below its 24 h mean');
    expect(out).toContain('[Check transaction] [Simulator]');
    expect(out).not.toContain('--- slack ---');
  });

  test('of another type for other kinds', async () => {
    const { out } = await preview('--type', 'tocsin.mute.ended', '--kind', 'email', 'slack');
    expect(out).toMatch(/--- email ---\nSubject: [\s\S]*--- slack ---\n/);
    expect(
      out.match(
        /🔴 CRITICAL .* Harbor Lending: Flash loan “\d+ USDC .*” https:\/\/etherscan\.io\/tx\/0x[0-9a-f]{64}\n/g,
      ),
    ).toHaveLength(4);
    expect((await preview('--type', 'digest of 12')).out).toContain('12 alerts in 4 protocols');
  });

  test('as JSON is what the channel would send', async () => {
    const { out } = await preview('--json', '--format', 'plain');
    const [first] = JSON.parse(out) as { kind: string; bodies: { text: string; parse_mode?: string }[] }[];
    expect(first).toMatchObject({ kind: 'telegram', bodies: [{ text: expect.stringContaining('CRITICAL') }] });
    expect(first?.bodies[0]).not.toHaveProperty('parse_mode');
  });

  test('as pages for a browser', async () => {
    const folder = join(room, 'pages');
    const inFile = join(room, 'tocsin.yaml', 'pages');
    expect(await preview('--html', inFile)).toMatchObject({
      code: 1,
      err: expect.stringMatching(/^tocsin: --html \S+ cannot be made: E\w+: [^\n]*$/),
    });
    const { out } = await preview('--html', folder, '--kind', 'email', 'telegram', 'slack');
    expect(out).toBe(['email', 'telegram', 'slack'].map((kind) => `${join(folder, kind)}.html\n`).join(''));
    for (const kind of ['email', 'telegram', 'slack']) {
      const page = await readFile(join(folder, `${kind}.html`), 'utf8');
      expect(page).toMatch(/^<!doctype html>/);
      expect(page).toContain('Harbor Lending');
      expect(page).not.toMatch(/<script|<link|src="http/);
    }
  });
});

describe('templates', () => {
  test('word what they are for', async () => {
    expect((await preview('--type', 'inspection.downgraded')).out).toContain('Calm down: Harbor Lending');
  });

  test('that fail are named, and the message is in our words', async () => {
    const { code, out, err } = await preview('--type', 'inspection.vanished');
    expect(code).toBe(0);
    expect(err).toContain('templates.1 fails for telegram: ');
    expect(out).toContain('NO LONGER LISTED (was CRITICAL)');
  });
});

test('an inspection of the service is shown as it would be forwarded', async () => {
  const { service, run } = await startServiceWorld();
  const protocol = 'Vault';
  const { _id } = service.insertInspection({ protocol, assessment: 'critical' });
  const { code, out, err } = await run(['preview', '--protocol', protocol, '--id', _id, '--kind', 'telegram']);
  expect(err).toBe('');
  expect(code).toBe(0);
  expect(out).toContain(`CRITICAL · ${protocol}`);
  expect(out).toContain(_id);
  const unknown = await run(['preview', '--protocol', protocol, '--id', 'nobody']);
  expect(unknown).toMatchObject({
    code: 1,
    err: expect.stringContaining("lists no inspection or stored notification 'nobody'"),
  });
});

test('so is a stored notification', async () => {
  const { service, run } = await startServiceWorld();
  const protocol = 'Vault';
  for (const message of ['Something else', 'Pool A lost 90%', 'A third'])
    service.insertNotification({ protocol, message });
  const { out: list } = await run(['notifications', '--protocol', protocol, '--json']);
  const raw = (JSON.parse(list) as JsonObject[]).find(({ message }) => message === 'Pool A lost 90%') ?? {};
  // As its message and `tocsin trace` name it: the service need not give an id.
  const id = notificationId({ protocol, message: 'Pool A lost 90%', raw, dates: {} });
  const { code, out } = await run(['preview', '--protocol', protocol, '--id', id, '--kind', 'slack']);
  expect(code).toBe(0);
  expect(out).toContain('Pool A lost 90%');
  expect(out).not.toContain('A third');
});

test('what goes with a sample is shown: buttons, who acknowledged it, which message of a storm', async () => {
  const shown = async (type: string) =>
    (await preview('--type', type, '--kind', 'telegram', 'slack', 'email')).out.split(/(?=^--- )/m);
  const [telegram, slack, email] = await shown('to acknowledge');
  expect([telegram, slack]).toEqual([
    expect.stringContaining('[Acknowledge]'),
    expect.stringContaining('[Acknowledge]'),
  ]);
  expect(email).toContain('https://tocsin.example.com/acknowledge/');
  const [acknowledged] = await shown('acknowledged');
  expect(acknowledged).toMatch(/👀 Ann is on it · CRITICAL/);
  expect(acknowledged).not.toContain('[Acknowledge]');
  const [digest] = await shown('storm of 2000');
  expect(digest).toMatch(/Storm, message 3/);
});

test('a webhook gets what its format says', async () => {
  const bodyIn = async (...args: string[]): Promise<unknown> => {
    const { out } = await preview('--kind', 'webhook', '--json', ...args);
    return (JSON.parse(out) as { bodies: unknown[] }[])[0]?.bodies[0];
  };
  expect(await bodyIn()).toMatchObject({ type: 'inspection.critical', data: { severity: 'critical' } });
  expect(await bodyIn('--webhook-format', 'discord')).toHaveProperty('embeds');
  expect((await preview('--webhook-format', 'smoke')).err).toMatch(/--webhook-format must be one of standard, /);
});

test.each([
  [
    ['--type', 'inspection.critcal'],
    /--type must be one of inspection\.critical, [\s\S]*did you mean 'inspection\.critical'/,
  ],
  [['--kind', 'fax'], /--kind must be one of email, telegram, slack, webhook \(got 'fax'\)/],
  [['--format', 'fancy'], /--format must be one of rich, plain, minimal/],
  [['--id', 'x'], /--id needs --protocol/],
])('a mistake is named: %j', async (args, message) => {
  const { code, err } = await preview(...args);
  expect(code).toBe(1);
  expect(err).toMatch(message);
});

test('a config that was named has to be there', async () => {
  expect((await preview('--config', join(room, 'none.yaml'))).code).toBe(1);
});
