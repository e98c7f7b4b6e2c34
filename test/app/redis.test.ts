/** What is told of the private Redis of a daemon. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openOwnRedis } from '../../src/app/redis.ts';
import { conditionText } from '../../src/condition.ts';
import { createConditions } from '../../src/ops/conditions.ts';
import { startEmbeddedRedis } from '../../src/redis/embedded.ts';
import { runInProcess } from '../cli/in-process.ts';
import { until } from '../support/until.ts';

const log = { info: () => {}, warn: () => {}, error: () => {} };

const room = async (): Promise<string> => {
  const dataDir = await mkdtemp(join(tmpdir(), 'tocsin-private-'));
  onTestFinished(() => rm(dataDir, { recursive: true, force: true }));
  return dataDir;
};

test('a private Redis that lives and does not answer is a condition until it is started again', async () => {
  const dataDir = await room();
  const config = { dataDir, redis: { prefix: 'tocsin' } } as Parameters<typeof openOwnRedis>[0];
  const conditions = createConditions({ now: Date.now });
  const said: string[] = [];
  const opened = await openOwnRedis(config, {
    log,
    silence: { askEveryMs: 20, rounds: 3, most: 8 },
    conditions: {
      report: (name, what) => {
        const isNew = conditions.report(name, what);
        said.push(conditions.current().map(conditionText).join());
        return isNew;
      },
      over: conditions.over,
    },
  });
  onTestFinished(opened.close);
  await rm(join(dataDir, 'redis', 'redis.sock'));
  await until('it is told', () => said.length > 0);
  expect(said[0]).toMatch(/^the private Redis lives and does not answer, so it is started again since /);
  await until('it is over', () => conditions.current().length === 0);
  expect(await opened.redis.ping()).toBe('PONG');
});

test('the stop of a private Redis by its daemon is noted in it', async () => {
  const config = { dataDir: await room(), redis: { prefix: 'tocsin' } } as Parameters<typeof openOwnRedis>[0];
  const first = await openOwnRedis(config, { log });
  onTestFinished(first.close);
  const serverOf = async ({ redis }: typeof first) => /run_id:(\w+)/.exec(await redis.info('server'))?.[1];
  const server = await serverOf(first);
  await first.close();
  const second = await openOwnRedis(config, { log });
  onTestFinished(second.close);
  expect(await second.redis.get('{tocsin}:server-stopped')).toBe(server);
  expect(await serverOf(second)).not.toBe(server);
});

test('a daemon that lives while its Redis is silent is named, and is not told as ended', async () => {
  const dataDir = await room();
  const config = join(dataDir, 'tocsin.yaml');
  const service = '{ name: main, baseUrl: "http://127.0.0.1:1", apiKey: k }';
  await writeFile(config, `services: [${service}]\nchannels: { webhook: { deriveSecrets: false } }\ndataDir: .\n`);
  const run = (command: string) => runInProcess([command, '--config', config]);
  expect(await run('status')).toMatchObject({ code: 2, err: expect.stringContaining('no daemon has run') });

  const redis = await startEmbeddedRedis({ dataDir, log });
  onTestFinished(redis.stop);
  const frozenAt = Date.now();
  process.kill(redis.pid(), 'SIGSTOP');
  const said = `tocsin: daemon ${process.pid} runs, but its Redis does not answer, since `;
  const first = await run('status');
  expect(first).toMatchObject({ code: 75, err: expect.stringContaining(said) });
  // It was asked every few seconds before.
  const since = Date.parse(first.err.slice(said.length).replace(' UTC', 'Z').replace(' ', 'T'));
  expect(Math.abs(since - frozenAt)).toBeLessThan(60_000);
  process.kill(redis.pid(), 'SIGCONT');
  await rm(join(dataDir, 'redis', 'redis.sock'));
  expect(await run('status')).toMatchObject({ code: 75, err: expect.stringContaining(said) });

  await redis.stop();
  expect(await run('status')).toMatchObject({ code: 2, err: expect.stringContaining('no daemon runs with dataDir') });
});
