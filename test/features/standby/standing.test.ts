/** Whose config counts, of daemons with different ones on one Redis. */
import { expect, test } from 'vitest';
import type { Config } from '../../../src/config/schema.ts';
import { createConfigRecord, createStanding, type Role } from '../../../src/features/standby/standing.ts';
import type { Member } from '../../../src/redis/members.ts';
import { openTestRedis } from '../../support/redis.ts';

/** All that counts here. */
const configOf = (...assessments: string[]): Config => ({ services: [], alerts: { assessments } }) as unknown as Config;
const VACANT_MS = 30_000;

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const clock = { at: 1000, monotonic: 0 };
  const record = createConfigRecord(redis, prefix);
  const join = (host: string, config: Config, role: Role = 'works', since?: number) => {
    const heard: string[] = [];
    const standing = createStanding({
      ...{ config, record, host, role, since, vacantMs: VACANT_MS },
      onSuperseded: () => heard.push('superseded'),
      onCounts: () => heard.push('counts'),
      onStandsBy: (by, differs) => heard.push(`stands by ${by}: ${differs.join(', ')}`),
      log: { error: () => {}, warn: () => {} },
      monotonic: () => clock.monotonic,
      now: () => clock.at,
    });
    const member = (): Member => ({ id: host, config: standing.print() }) as Member;
    /** What it hears at a beat, where these live. */
    const look = async (...others: { member(): Member }[]): Promise<string[]> => {
      heard.length = 0;
      await standing.look([member(), ...others.map((one) => one.member())]);
      return [...heard];
    };
    return { ...standing, member, look };
  };
  return { redis, prefix, clock, join };
};

test('the config that was put into force last counts, whatever the clocks say', async () => {
  const { clock, join } = setUp();
  const older = join('older', configOf('critical'));
  await older.begin();
  expect(await older.look()).toEqual([]);
  clock.at = 5;
  const newer = join('newer', configOf('critical', 'suspecious'));
  await newer.begin();
  expect(await newer.look(older)).toEqual([]);
  expect(await older.look(newer)).toEqual(['superseded']);
  expect([await older.counts(), await newer.counts()]).toEqual([false, true]);
  const waiting = join('older', configOf('critical'), 'stands by', older.since());
  await waiting.begin();
  expect(await waiting.look(newer)).toEqual(['stands by newer: alerts.assessments']);
});

test('daemons with the same config all work, and one of them that starts supersedes nobody', async () => {
  const { join } = setUp();
  const [one, other] = [join('one', configOf('critical')), join('other', configOf('critical'))];
  await one.begin();
  await other.begin();
  expect(await one.look(other)).toEqual([]);
  expect(await other.look(one)).toEqual([]);
  expect(other.since()).toBe(one.since());
});

test('where nobody works by the config in force any more, the older one counts after a while, until a newer is back', async () => {
  const { clock, join } = setUp();
  const older = join('older', configOf('critical'));
  await older.begin();
  const newer = join('newer', configOf('ok'));
  await newer.begin();
  const waiting = join('older', configOf('critical'), 'stands by', older.since());
  await waiting.begin();
  expect(await waiting.look(newer)).toHaveLength(1);
  expect(await waiting.look()).toEqual(['stands by newer: alerts.assessments']);
  clock.monotonic += VACANT_MS - 1;
  expect(await waiting.look()).toEqual(['stands by newer: alerts.assessments']);
  clock.monotonic += 1;
  expect(await waiting.look()).toEqual(['counts']);

  const again = join('older', configOf('critical'), 'works', waiting.since());
  await again.begin();
  expect(await again.look()).toEqual([]);
  // It was cut off, and comes back: its config is still the newer one.
  expect(await newer.look(again)).toEqual([]);
  expect(await again.look(newer)).toEqual(['superseded']);
});

test('one that only restarts is waited for', async () => {
  const { clock, join } = setUp();
  const older = join('older', configOf('critical'));
  await older.begin();
  const newer = join('newer', configOf('ok'));
  await newer.begin();
  const waiting = join('older', configOf('critical'), 'stands by', older.since());
  await waiting.begin();
  await waiting.look();
  clock.monotonic += VACANT_MS - 1;
  await waiting.look(newer);
  clock.monotonic += VACANT_MS - 1;
  expect(await waiting.look()).toEqual(['stands by newer: alerts.assessments']);
});

test('a Redis that lost its data has the same config in force again, under another key', async () => {
  const { redis, prefix, join } = setUp();
  const works = join('works', configOf('critical'));
  const same = join('same', configOf('critical'));
  const waiting = join('waiting', configOf('ok'), 'stands by', 1);
  for (const one of [works, same, waiting]) await one.begin();
  const before = works.print();
  await redis.del(`${prefix}:config`);
  expect(await waiting.look(works)).toEqual([]);
  expect(await works.look()).toEqual([]);
  expect(works.print()).not.toBe(before);
  expect(await same.look(works)).toEqual([]);
  expect(await waiting.look(works)).toEqual(['stands by works: alerts.assessments']);
});
