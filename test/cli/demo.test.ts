/** The commands that bring a world of their own. */
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { runProgram, startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { runCommand } from './in-process.ts';

test.concurrent('sandbox gives the environment that config/demo.yaml asks for', async ({
  onTestFinished: onFinished,
}) => {
  const sandbox = startProgram(['sandbox', '--port', '0', '--quiet', '--json'], {}, onFinished);
  const printed = await until('it says where it is', () => {
    const text = sandbox.stdout();
    return text.endsWith('}\n') ? text : undefined;
  });
  const { environment } = JSON.parse(printed) as { environment: Record<string, string> };
  const given = { ...environment, TOCSIN_DATA_DIR: tmpdir() };
  const checked = await runCommand(['check', '--config', 'config/demo.yaml'], given);
  expect(checked).toMatchObject({ code: 0, stderr: '' });
  sandbox.signal('SIGINT');
  expect(await sandbox.ended).toBe(0);
});

test.concurrent('demo shows a delivery on every kind, and ends with 0 at Ctrl-C', async ({
  onTestFinished: onFinished,
}) => {
  const demo = startProgram(['demo'], {}, onFinished);
  await until('every kind is delivered', () => demo.stdout().includes('delivered on every channel kind'), 50_000);
  demo.signal('SIGINT');
  expect(await demo.ended).toBe(0);
  expect(demo.stdout()).toMatch(/ \d+ alerts: [1-9]\d* delivered on every kind.*; \d+ waiting\.\n/);
  expect(demo.stdout()).toMatch(/^ {2}webhook +[1-9]\d* messages, latency p50/m);
});

test.concurrent('a port of the sandbox that is in use is told with what to do', async ({
  onTestFinished: onFinished,
}) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  onFinished(() => void taken.close());
  const { port } = taken.address() as AddressInfo;
  const { code, stderr } = await runProgram(['sandbox', '--port', String(port)], {}, onFinished);
  expect(stderr).toMatch(
    /^tocsin: --port: cannot listen on 127\.0\.0\.1:\d+: the port is in use by another program: end that one, or choose another port\n$/,
  );
  expect(code).toBe(1);
});
