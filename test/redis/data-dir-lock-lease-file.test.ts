import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLease, readLease, removeStaleLease, renewLease } from '../../src/redis/data-dir-lock.ts';

let room: string;
let file: string;
beforeEach(async () => {
  room = await mkdtemp(join(tmpdir(), 'tocsin-lease-'));
  file = join(room, 'tocsin.lock');
});
afterEach(() => rm(room, { recursive: true, force: true }));

const MINE = { id: 'mine', isLocked: true };
const OTHER = {
  ...{ id: 'other', host: 'elsewhere', pid: 4711, pids: 'pid:[1]', boot: 'b', isLocked: false },
  renewedAt: '2026-11-20T10:00:00.000Z',
};

test('a lease names this process; only the first is made, and it is renewed in place', async () => {
  const handle = await createLease(file, MINE);
  expect(await createLease(file, { ...MINE, id: 'another' })).toBeUndefined();
  expect(await readLease(file)).toMatchObject({ id: 'mine', host: hostname(), pid: process.pid });
  const { length } = await readFile(file, 'utf8');
  if (!handle) throw new Error('the first is made');
  await renewLease(handle, MINE);
  await handle.close();
  expect(await readFile(file, 'utf8')).toHaveLength(length);
  expect(await readLease(file)).toMatchObject({ id: 'mine' });
});

test('where there is none there is nothing to read', async () => {
  expect(await readLease(file)).toBeUndefined();
  await expect(readLease(room)).rejects.toThrow(/EISDIR/);
});

test.each(['', '{"id":"other","host"', '{"id":7,"host":"h","pid":1,"renewedAt":"x"}'])(
  'a lease that was left unfinished as %j is as old as its file',
  async (text) => {
    await writeFile(file, text);
    const at = new Date('2026-11-20T09:00:00.000Z');
    await utimes(file, at, at);
    expect(await readLease(file)).toEqual({
      id: 'unfinished',
      host: 'unknown host',
      pid: 0,
      pids: '',
      boot: '',
      isLocked: false,
      renewedAt: at.toISOString(),
    });
  },
);

test('exactly the lease that was judged is removed', async () => {
  await writeFile(file, JSON.stringify(OTHER));
  await removeStaleLease(file, { ...OTHER, renewedAt: '2026-11-20T10:00:05.000Z' }, 1000);
  await removeStaleLease(file, { ...OTHER, id: 'another' }, 1000);
  expect(await readLease(file)).toEqual(OTHER);
  await removeStaleLease(file, OTHER, 1000);
  expect(await readdir(room)).toEqual([]);
});

test('while another daemon judges it nothing is removed; one that died while judging blocks nobody for long', async () => {
  await writeFile(file, JSON.stringify(OTHER));
  const guard = `${file}.takeover`;
  await writeFile(guard, '');
  await removeStaleLease(file, OTHER, 60_000);
  expect((await readdir(room)).toSorted()).toEqual(['tocsin.lock', 'tocsin.lock.takeover']);
  await utimes(guard, new Date(0), new Date(0));
  await removeStaleLease(file, OTHER, 60_000);
  expect(await readdir(room)).toEqual(['tocsin.lock']);
  await removeStaleLease(file, OTHER, 60_000);
  expect(await readdir(room)).toEqual([]);
});
