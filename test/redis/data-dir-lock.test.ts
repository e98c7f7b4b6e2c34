import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rename, rm, unlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import { type DataDirLock, holderOf, lockDataDir } from '../../src/redis/data-dir-lock.ts';
import { bootId, pidNamespace } from '../../src/redis/pid.ts';
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
  settings: Partial<Parameters<typeof lockDataDir>[0]> = {},
): Promise<DataDirLock> => {
  const lock = await lockDataDir({ dataDir, onLost, ...TIMING, ...settings });
  locks.push(lock);
  return lock;
};

interface Left {
  host?: string;
  pid?: number;
  pids?: string;
  boot?: string;
  isLocked?: boolean;
  renewedAt?: string;
}

/** A holder among the processes that we see. */
const HERE = { host: hostname(), pids: pidNamespace(), boot: bootId() };
const ELSEWHERE = { host: 'elsewhere', pid: 4711, pids: 'pid:[1]', boot: 'another', isLocked: false };
/** A container of the same host name on this machine: the same process ids are other processes. */
const CONTAINER = { ...HERE, pids: 'pid:[1]' };

/** Written as a whole, so that nobody reads half a lease. */
const leave = async (lease: Left): Promise<void> => {
  const fresh = `${file}.fresh`;
  const renewedAt = new Date().toISOString();
  await writeFile(fresh, JSON.stringify({ id: 'other', ...ELSEWHERE, renewedAt, ...lease }));
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
  await leave({ ...HERE, pid: process.ppid });
  const refused = await take().catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(UsageError);
  expect(String(refused)).toContain(`process ${process.ppid} on ${hostname()}`);
  expect(String(refused)).toContain(file);
});

test.each([
  ['elsewhere', {}, /process 4711 on elsewhere/],
  ['in another container of our host name, with our process id', { ...CONTAINER, pid: process.pid }, /is in use/],
  ['in another container, whose process id nobody has here', { ...CONTAINER, pid: 2 ** 22 - 3 }, /is in use/],
])('a holder %s that goes on renewing is respected', async (_name, lease, says) => {
  const ended = new AbortController();
  const renewing = (async () => {
    while (!ended.signal.aborted) {
      await leave(lease);
      await setTimeout(10);
    }
  })();
  await until('it is there', () => readFile(file).catch(() => undefined));
  const refused = await take().catch((error: unknown) => error);
  ended.abort();
  await renewing;
  expect(String(refused)).toMatch(says);
});

test.each([
  ['of a process that has died', { ...HERE, pid: 2 ** 22 - 3 }],
  ['of an earlier life of our own process id, as in a container', { ...HERE, pid: process.pid }],
  ['of another host, not renewed for long', { renewedAt: '2020-01-01T00:00:00.000Z' }],
  ['of another host whose clock is ahead', { renewedAt: '2999-01-01T00:00:00.000Z' }],
  ['of a process id that somebody else has now', { ...HERE, pid: process.ppid, renewedAt: '2020-01-01T00:00:00.000Z' }],
  ['of a container that is gone, whose process id we have', { ...CONTAINER, pid: process.pid }],
  ['of the time before a restart, whose process id somebody else has now', { ...HERE, boot: 'x', pid: process.ppid }],
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
  await leave({ ...HERE, pid: 2 ** 22 - 3 });
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

test('who has the directory by the kernel is respected, whatever its lease says', async () => {
  const other = spawn('flock', [dataDir, 'sh', '-c', 'echo locked; exec cat'], { stdio: ['pipe', 'pipe', 'inherit'] });
  await once(other.stdout, 'data');
  await expect(take()).rejects.toThrow(/is in use by another Tocsin/);
  await leave({ ...HERE, pid: 2 ** 22 - 3 });
  await expect(take()).rejects.toThrow(/is in use by another Tocsin/);
  expect(await read()).toMatchObject({ id: 'other' });
  const exited = once(other, 'exit');
  other.stdin.end();
  await exited;
  await take();
});

test('who held the directory by the kernel, and does no more, has ended: nothing is waited for', async () => {
  await leave({ ...CONTAINER, isLocked: true });
  await take(undefined, { staleAfterMs: 3_600_000, renewEveryMs: 600_000 });
  expect(await read()).toMatchObject({ pid: process.pid, isLocked: true });
});

test('where the system has no flock the lease alone counts', async () => {
  const without = { flock: 'no-such-flock' };
  await take(undefined, without);
  expect(await read()).toMatchObject({ isLocked: false });
  await expect(take(undefined, without)).rejects.toThrow(/is in use/);
});

test('who has the directory is known to others, as long as it lives', async () => {
  expect(await holderOf(dataDir)).toBeUndefined();
  const lock = await take();
  expect(await holderOf(dataDir)).toMatchObject({ pid: process.pid });
  await lock.release();
  await leave({});
  expect(await holderOf(dataDir)).toMatchObject({ pid: 4711, host: 'elsewhere' });
  for (const ended of [{ ...HERE, pid: 2 ** 22 - 3 }, { renewedAt: '2020-01-01T00:00:00.000Z' }]) {
    await leave(ended);
    expect(await holderOf(dataDir)).toBeUndefined();
  }
});
