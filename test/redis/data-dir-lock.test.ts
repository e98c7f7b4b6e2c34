import { mkdtemp, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { type DataDirLock, lockDataDir } from '../../src/redis/data-dir-lock.ts';
import { until } from '../support/until.ts';

/** A busy machine must not make a renewed lease seem old. */
const TIMING = { renewEveryMs: 20, staleAfterMs: 1500 };
/** Where no holder lives that could seem dead, a lease may be stale soon. */
const SOON = { staleAfterMs: 200 };

let dataDir: string;
let file: string;
const locks: DataDirLock[] = [];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'tocsin-lock-'));
  file = join(dataDir, 'tocsin.lock');
});

afterEach(async () => {
  for (const lock of locks.splice(0)) await lock.release();
  await rm(dataDir, { recursive: true, force: true });
});

const take = async (
  onLost: (why: string) => void = () => {},
  timing: Partial<typeof TIMING> = {},
): Promise<DataDirLock> => {
  const lock = await lockDataDir({ dataDir, onLost, ...TIMING, ...timing });
  locks.push(lock);
  return lock;
};

/** Written as a whole, so that nobody reads half a lease. */
const leave = async (lease: { host?: string; pid?: number; renewedAt?: string }): Promise<void> => {
  const fresh = `${file}.fresh`;
  const renewedAt = new Date().toISOString();
  await writeFile(fresh, JSON.stringify({ id: 'other', host: 'elsewhere', pid: 4711, renewedAt, ...lease }));
  await rename(fresh, file);
};

const read = async () => JSON.parse(await readFile(file, 'utf8'));

test('says who has it, renews it, and removes it at the end', async () => {
  const lock = await take();
  const first = await read();
  expect(first).toMatchObject({ host: hostname(), pid: process.pid });
  await until('it is renewed', async () => (await read()).renewedAt !== first.renewedAt);
  expect(await lock.isHeld()).toBe(true);
  await lock.release();
  await lock.release();
  await expect(readFile(file)).rejects.toThrow(/ENOENT/);
});

test('a holder that lives is respected, and named', async () => {
  await leave({ host: hostname(), pid: process.ppid });
  const refused = await take().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UsageError);
  expect(String(refused)).toContain(`process ${process.ppid} on ${hostname()}`);
  expect(String(refused)).toContain(file);
});

test('a holder elsewhere that goes on renewing is respected', async () => {
  const ended = new AbortController();
  const renewing = (async () => {
    while (!ended.signal.aborted) {
      await leave({});
      await setTimeout(10);
    }
  })();
  await until('it is there', () => readFile(file).catch(() => undefined));
  const refused = await take().catch((error: unknown) => error);
  ended.abort();
  await renewing;
  expect(String(refused)).toMatch(/process 4711 on elsewhere/);
});

test.each([
  ['of a process that has died', { host: hostname(), pid: 2 ** 22 - 3 }],
  ['of an earlier life of our own process id, as in a container', { host: hostname(), pid: process.pid }],
  ['of another host, not renewed for long', { renewedAt: '2020-01-01T00:00:00.000Z' }],
  ['of another host whose clock is ahead', { renewedAt: '2999-01-01T00:00:00.000Z' }],
  [
    'of a process id that somebody else has now',
    { host: hostname(), pid: process.ppid, renewedAt: '2020-01-01T00:00:00.000Z' },
  ],
])('a lease is taken over: one %s', async (_name, lease) => {
  await leave(lease);
  await take(undefined, SOON);
  expect(await read()).toMatchObject({ host: hostname(), pid: process.pid });
});

test.each(['', '{', 'null', '{"id":1}'])('a lease is taken over: one that reads %j', async (text) => {
  await writeFile(file, text);
  await take(undefined, SOON);
  expect(await read()).toMatchObject({ pid: process.pid });
});

test('of many that find a stale lease, one gets it', async () => {
  await leave({ host: hostname(), pid: 2 ** 22 - 3 });
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => take()));
  expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
});

test('a lease that somebody took is not written over, and its loss is reported', async () => {
  const lost: string[] = [];
  const lock = await take((why) => lost.push(why));
  await unlink(file);
  await leave({});
  await until('the loss is reported', () => lost.length > 0);
  expect(lost).toEqual([expect.stringMatching(/belongs to process 4711 on elsewhere/)]);
  expect(await lock.isHeld()).toBe(false);
  await lock.release();
  expect(await read()).toMatchObject({ id: 'other' });
});

test('a lease that was deleted by hand is made again', async () => {
  const lock = await take((why) => expect.unreachable(why));
  await unlink(file);
  await until('it is there again', lock.isHeld);
  await expect(take()).rejects.toThrow(/is in use/);
});

test('a directory that vanished is lost', async () => {
  const lost: string[] = [];
  await take((why) => lost.push(why), SOON);
  await rm(dataDir, { recursive: true });
  await until('the loss is reported', () => lost.length > 0);
  expect(lost).toEqual([expect.stringMatching(/cannot be renewed \(ENOENT\)/)]);
});
