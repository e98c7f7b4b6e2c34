/** Which daemons live: by beats that each sees itself, on the monotonic clock. */
import { hostname } from 'node:os';
import { expect, test } from 'vitest';
import { createMembers, type Member } from '../../src/redis/members.ts';
import { openTestRedis } from '../support/redis.ts';

const NOTHING = { services: [], blindTo: [], config: '' };
const HERE = { host: hostname(), pid: process.pid };
const ELSEWHERE = { host: 'elsewhere.example.com', pid: 1 };

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const clock = { at: 0 };
  let joined = 0;
  const join = (of: Partial<Member> = {}) => {
    joined += 1;
    const self = { id: `member-${joined}`, ...HERE, workers: [], ...NOTHING, ...of };
    const members = createMembers({ redis, prefix, self: () => self, monotonic: () => clock.at });
    return { ...members, live: () => members.members().map(({ id }) => id) };
  };
  /** Seconds in which only these members beat. */
  const pass = async (seconds: number, ...members: ReturnType<typeof join>[]) => {
    const found: string[] = [];
    for (let second = 0; second < seconds; second += 1) {
      clock.at += 1000;
      for (const member of members) found.push(...(await member.beat()).map(({ id }) => id));
    }
    return [...new Set(found)];
  };
  return { redis, prefix, clock, join, pass };
};

test('members that beat know each other, in the same order', async () => {
  const { join, pass } = setUp();
  const [one, two, three] = [join(), join(), join()];
  expect(await pass(3, one, two, three)).toEqual([]);
  expect(one.live()).toEqual(['member-1', 'member-2', 'member-3']);
  expect(three.live()).toEqual(one.live());
});

test('one that falls silent is gone within five beats, again and again until it is forgotten', async () => {
  const { join, pass } = setUp();
  const [one, two] = [join(), join({ ...ELSEWHERE, workers: ['w1', 'w2'] })];
  await pass(2, one, two);
  expect(await pass(3, one)).toEqual([]);
  expect(one.live()).toHaveLength(2);
  expect(await pass(2, one)).toEqual(['member-2']);
  expect(await one.beat()).toEqual([{ id: 'member-2', ...ELSEWHERE, workers: ['w1', 'w2'], ...NOTHING, beats: 2 }]);
  expect(one.live()).toEqual(['member-1']);
  await one.forget('member-2');
  expect(await one.beat()).toEqual([]);
});

test('one that beats again lives again', async () => {
  const { join, pass } = setUp();
  const [one, two] = [join(), join(ELSEWHERE)];
  await pass(1, one, two);
  await pass(6, one);
  expect(one.live()).toEqual(['member-1']);
  await pass(1, two, one);
  expect(one.live()).toEqual(['member-1', 'member-2']);
});

test('one that has left is gone at once, and nothing is left to do for it', async () => {
  const { join, pass } = setUp();
  const [one, two] = [join(), join()];
  await pass(1, one, two);
  await two.leave();
  expect(await pass(1, one)).toEqual([]);
  expect(one.live()).toEqual(['member-1']);
});

test('a process of this host that has ended is gone sooner; two daemons of one process are no such case', async () => {
  const { redis, prefix, join, pass } = setUp();
  const [one, two] = [join(), join()];
  await pass(1, one, two);
  // An earlier process of a container: it had the pid that is ours now.
  await redis.hset(`${prefix}:members`, 'earlier', JSON.stringify({ ...HERE, workers: [], beats: 7 }));
  expect(await pass(1, one)).toEqual([]);
  expect(await pass(2, one)).toEqual(['earlier']);
  expect(one.live()).toEqual(['member-1', 'member-2']);
});

test('a process of this host that lives is not gone where it is only slow', async () => {
  const { join, pass } = setUp();
  const [one, two] = [join(), join({ workers: ['w1'] })];
  await pass(1, one, two);
  expect(await pass(9, one)).toEqual([]);
  expect(one.live()).toEqual(['member-1', 'member-2']);
  expect(await pass(2, one)).toEqual(['member-2']);
});

test('a pid of another container says nothing, also where both have the name of their host', async () => {
  const { redis, prefix, join, pass } = setUp();
  const one = join({ pids: 'pid:[1]' });
  const beat = JSON.stringify({ ...HERE, pids: 'pid:[2]', workers: [], beats: 7 });
  await redis.hset(`${prefix}:members`, 'elsewhere', beat);
  expect(await pass(4, one)).toEqual([]);
  expect(await pass(1, one)).toEqual(['elsewhere']);
});

test('where our own beats stopped, others are watched from the start: they may have had no Redis either', async () => {
  const { clock, join, pass } = setUp();
  const [one, two] = [join(), join(ELSEWHERE)];
  await pass(2, one, two);
  clock.at += 60_000;
  expect(await one.beat()).toEqual([]);
  expect(await pass(3, one)).toEqual([]);
  expect(await pass(1, two, one)).toEqual([]);
  expect(one.live()).toEqual(['member-1', 'member-2']);
});

test('where Redis was emptied the others still live, until they have been silent', async () => {
  const { redis, prefix, join, pass } = setUp();
  const [one, two, three] = [join(), join(ELSEWHERE), join(ELSEWHERE)];
  await pass(2, one, two, three);
  await redis.del(`${prefix}:members`);
  expect(await pass(1, one)).toEqual([]);
  expect(one.live()).toEqual(['member-1', 'member-2', 'member-3']);
  expect(await pass(2, two, one)).toEqual([]);
  expect(one.live()).toEqual(['member-1', 'member-2', 'member-3']);
  expect(await pass(3, two, one)).toEqual(['member-3']);
  await Promise.all([one, two].map((each) => each.forget('member-3')));
  expect(await pass(1, two, one)).toEqual([]);
  await two.leave();
  await pass(1, one);
  expect(one.live()).toEqual(['member-1']);
});
