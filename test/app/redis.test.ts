/** What commands are told of the private Redis of a daemon. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { startEmbeddedRedis } from '../../src/redis/embedded.ts';
import { runInProcess } from '../cli/in-process.ts';

const log = { info: () => {}, warn: () => {}, error: () => {} };

test('a daemon that lives while its Redis is silent is named, and is not told as ended', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'tocsin-private-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  const config = join(dataDir, 'tocsin.yaml');
  const service = '{ name: main, baseUrl: "http://127.0.0.1:1", apiKey: k }';
  await writeFile(config, `services: [${service}]\nchannels: { webhook: { deriveSecrets: false } }\ndataDir: .\n`);
  const run = (command: string) => runInProcess([command, '--config', config]);
  expect(await run('status')).toMatchObject({ code: 2, err: expect.stringContaining('no daemon has run') });

  const redis = await startEmbeddedRedis({ dataDir, log });
  onTestFinished(redis.stop);
  process.kill(redis.pid(), 'SIGSTOP');
  const said = `tocsin: daemon ${process.pid} runs, but its Redis does not answer`;
  expect(await run('status')).toMatchObject({ code: 75, err: said });
  process.kill(redis.pid(), 'SIGCONT');
  await rm(join(dataDir, 'redis', 'redis.sock'));
  expect(await run('status')).toMatchObject({ code: 75, err: said });

  await redis.stop();
  expect(await run('status')).toMatchObject({ code: 2, err: expect.stringContaining('no daemon runs with dataDir') });
});
