/** What counts as read: a cursor that moved, whoever moved it, and by no clock that can be set. */
import { expect, test } from 'vitest';
import type { Cursor, Track } from '../../src/poll/cursor.ts';
import { createReadWatch } from '../../src/poll/read-watch.ts';

const track = (protocol: string): Track => ({ service: 'main', source: 'inspections', protocol });
const [VAULT, BRIDGE] = [track('Vault'), track('Bridge')];

const setUp = () => {
  const time = { elapsed: 0 };
  const cursors = new Map<string, Cursor>();
  const asked: string[] = [];
  const watch = createReadWatch({
    cursors: {
      get: async (tracks) =>
        tracks.map(({ protocol }) => {
          asked.push(protocol);
          return cursors.get(protocol);
        }),
    },
    freshMs: 20_000,
    gapMs: 35_000,
    monotonic: () => time.elapsed,
  });
  const move = ({ protocol }: Track, polledAt: number): void => {
    cursors.set(protocol, { start: 0, position: 0, sweptTo: 0, polledAt });
  };
  const look = async (at: number, tracks = [VAULT]) => {
    time.elapsed = at;
    return (await watch.look('main', tracks)).map(({ wasRead, unreadMs }) => [wasRead, unreadMs]);
  };
  return { watch, time, asked, move, look };
};

test('a cursor that moves is read, also by another daemon whose clock is wrong', async () => {
  const { look, move } = setUp();
  expect(await look(0)).toEqual([[false, 0]]);
  move(VAULT, 5_000_000);
  expect(await look(30_000)).toEqual([[true, 0]]);
  move(VAULT, 1000);
  expect(await look(60_000)).toEqual([[true, 0]]);
});

test('one that stands still is unread, since it was last seen to move', async () => {
  const { look, move } = setUp();
  move(VAULT, 1000);
  expect(await look(0)).toEqual([[false, 0]]);
  expect(await look(30_000)).toEqual([[false, 30_000]]);
  expect(await look(60_000)).toEqual([[false, 60_000]]);
});

test('what this daemon has read is not asked for, until it is no longer fresh', async () => {
  const { watch, look, time, asked } = setUp();
  await look(0, [VAULT, BRIDGE]);
  time.elapsed = 20_000;
  watch.note([VAULT]);
  asked.length = 0;
  expect(await look(30_000, [VAULT, BRIDGE])).toEqual([
    [true, 10_000],
    [false, 30_000],
  ]);
  expect(asked).toEqual(['Bridge']);
  expect(await look(45_000)).toEqual([[true, 25_000]]);
  expect(await look(60_000)).toEqual([[true, 40_000]]);
});

test('after a time without a look, as without Redis, watching begins again', async () => {
  const { look } = setUp();
  await look(0);
  expect(await look(30_000)).toEqual([[false, 30_000]]);
  expect(await look(100_000)).toEqual([[false, 0]]);
});

test('a protocol that went and came back is watched from the start', async () => {
  const { look } = setUp();
  await look(0);
  await look(30_000, [BRIDGE]);
  expect(await look(60_000)).toEqual([[false, 0]]);
});
