/** Dead letters: kept whole, found by id, and removed only as they were read. */
import { expect, test } from 'vitest';
import { createDeadLetters, deadId } from '../../src/ledger/dead-letters.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';
import { openTestRedis } from '../support/redis.ts';

const SLACK = destinationOf('slack', 'C1');

const MAIL = destinationOf('email', 'ops@example.com');
const AT = '2026-11-20T12:00:01.000Z';

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const dead = createDeadLetters(redis, prefix);
  const add = async (n: number, at: string, destination = SLACK) => {
    const letter = { alert: makeAlert(n), destination, reason: 'unknown', message: 'gone', attempts: 2, at };
    await dead.add(letter);
    return { id: deadId(makeAlert(n), destination), ...letter };
  };
  return { redis, prefix, dead, add, another: createDeadLetters(redis, prefix) };
};

test('are kept whole and listed by the time of their death', async () => {
  const { dead, add } = setUp();
  const second = await add(1, '2026-11-20T12:00:02.000Z');
  const first = await add(2, '2026-11-20T12:00:01.000Z');
  expect(await dead.list()).toEqual([first, second]);
  expect(new Set(await dead.ids())).toEqual(new Set([first.id, second.id]));
  expect(await dead.get([second.id, 'msg_unknown', first.id])).toEqual([second, first]);
  expect(await dead.get([])).toEqual([]);
  expect(await dead.count()).toBe(2);
});

test('one that died again after it was read stays', async () => {
  const { dead, add } = setUp();
  const read = await add(1, '2026-11-20T12:00:01.000Z');
  const other = await add(2, '2026-11-20T12:00:01.000Z');
  const again = await add(1, '2026-11-20T12:00:05.000Z');
  expect(again.id).toBe(read.id);
  await dead.remove([read, other]);
  expect(await dead.list()).toEqual([again]);
  await dead.remove([again]);
  expect(await dead.count()).toBe(0);
});

test('are counted by destination as they come and go, also by what another process does', async () => {
  const { dead, add, another } = setUp();
  const counts = async () => [...(await dead.byDestination())].map(([id, { dead: count }]) => [id, count]);
  expect(await counts()).toEqual([]);
  const read = await add(1, AT);
  await add(2, AT);
  await add(1, AT, MAIL);
  await dead.add({ alert: makeAlert(3), reason: 'unroutable', message: 'no channel', attempts: 0, at: AT });
  expect(new Map((await counts()) as [string, number][])).toEqual(
    new Map([
      [SLACK.id, 2],
      [MAIL.id, 1],
    ]),
  );
  expect((await dead.byDestination()).get(MAIL.id)?.destination).toMatchObject({ kind: 'email', label: MAIL.label });
  await another.remove([read, ...(await dead.get([deadId(makeAlert(1), MAIL)]))]);
  expect(await counts()).toEqual([[SLACK.id, 1]]);
});

test('so many are kept at most: the oldest go, also those that another process added, and it is remembered', async () => {
  const { redis, prefix, add } = setUp();
  const bounded = createDeadLetters(redis, prefix, 2);
  expect(await bounded.trim()).toBe(0);
  expect(await bounded.trimmed()).toBe(0);
  await add(1, '2026-11-20T12:00:01.000Z');
  await add(2, '2026-11-20T12:00:02.000Z');
  expect(await bounded.trim()).toBe(0);
  await bounded.byDestination();
  const again = await add(1, '2026-11-20T12:00:05.000Z');
  const third = await add(3, '2026-11-20T12:00:03.000Z');
  await bounded.trim();
  await bounded.trim();
  expect(await bounded.list()).toEqual([third, again]);
  expect(await bounded.trimmed()).toBe(1);
  expect(await redis.ttl(`${prefix}:dead-trimmed`)).toBeGreaterThan(0);
});

test('an alert without destination has an id of its own', () => {
  expect(deadId(makeAlert(1), undefined)).not.toBe(deadId(makeAlert(1), SLACK));
  expect(deadId(makeAlert(1), undefined)).toBe(deadId(makeAlert(1), undefined));
});
