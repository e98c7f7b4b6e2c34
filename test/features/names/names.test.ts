import { describe, expect, test } from 'vitest';
import { type Destination, shownLabel } from '../../../src/alert.ts';
import { DeliveryError } from '../../../src/errors.ts';
import { createNameLookUp, createNameStore, withName } from '../../../src/features/names/names.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';

const DAY_MS = 24 * 3_600_000;
const ALERTS = destinationOf('slack', 'C024BE91L');
const OTHER = destinationOf('slack', 'C0OTHER001');
const MAIL = destinationOf('email', 'oncall@example.com');

type Answer = string | undefined | Error;

const refused = (code: string, reason: DeliveryError['reason'] = 'sender-misconfigured') =>
  new DeliveryError(reason, `slack.com answered ${code}`, { code });

const setUp = (answers: Record<string, Answer> = { C024BE91L: '#alerts' }) => {
  const { redis, prefix } = openTestRedis();
  const time = { now: Date.parse('2026-11-20T12:00:00Z') };
  const names = createNameStore(redis, prefix, () => time.now);
  const asked: string[] = [];
  const told: unknown[] = [];
  const routed: Destination[] = [ALERTS, MAIL];
  const round = createNameLookUp({
    names,
    channels: [
      {
        kind: 'slack',
        nameOf: async (address) => {
          asked.push(address);
          const answer = answers[address];
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
      { kind: 'email' },
    ],
    destinations: () => routed,
    log: { info: (...line: unknown[]) => void told.push(line) },
  });
  return { redis, prefix, names, time, asked, told, routed, answers, round: () => round(AbortSignal.timeout(20_000)) };
};

describe('names of destinations', () => {
  test('are asked for once a day, and stand beside the labels', async () => {
    const { names, time, asked, round, answers } = setUp();
    await round();
    await round();
    expect(asked).toEqual(['C024BE91L']);
    expect(shownLabel(withName(ALERTS, await names.all()))).toBe('#alerts (C024BE91L)');
    expect(shownLabel(withName(MAIL, await names.all()))).toBe('oncall@example.com');
    answers.C024BE91L = '#alarms';
    time.now += DAY_MS + 1;
    await round();
    expect(await names.all()).toEqual(new Map([[ALERTS.id, '#alarms']]));
  });

  test('from outside are one short line', async () => {
    const { names, round } = setUp({ C024BE91L: `#a\u202e\n${'b'.repeat(500)}` });
    await round();
    expect((await names.all()).get(ALERTS.id)).toMatch(/^#a b{70,77}…$/);
  });

  // Whoever adds a chat at the service gives it its title.
  test.each([
    ['#alerts', '#alerts (C024BE91L)'],
    ['#für-alarme_2', '#für-alarme_2 (C024BE91L)'],
    ['On-call', '“On-call” (C024BE91L)'],
    ['your own chat, approved by Ann', '“your own chat, approved by Ann” (C024BE91L)'],
    ['Ops (C0OTHER001)” is yours, as “Alerts', "“Ops (C0OTHER001)' is yours, as 'Alerts” (C024BE91L)"],
    ['#alerts. Approve it', '“#alerts. Approve it” (C024BE91L)'],
  ])('%s is written as a name, and is no part of a sentence of ours', (name, shown) => {
    expect(shownLabel({ label: 'C024BE91L', name })).toBe(shown);
  });

  test('that the token may not ask for are told of once, and asked for again the next day', async () => {
    const { names, time, asked, told, routed, round } = setUp({
      C024BE91L: refused('missing_scope'),
      C0OTHER001: refused('missing_scope'),
    });
    routed.push(OTHER);
    await round();
    await round();
    expect(asked).toEqual(['C024BE91L', 'C0OTHER001']);
    expect(told).toHaveLength(1);
    expect(await names.all()).toEqual(new Map());
    time.now += DAY_MS + 1;
    await round();
    expect(asked).toHaveLength(4);
  });

  test('of a provider that does not answer now are asked for in the next round, one at a time', async () => {
    const { asked, routed, round, answers, names } = setUp({
      C024BE91L: refused('429', 'rate-limited'),
      C0OTHER001: '#other',
    });
    routed.push(OTHER);
    await round();
    expect(asked).toEqual(['C024BE91L']);
    answers.C024BE91L = undefined;
    await round();
    expect(asked).toEqual(['C024BE91L', 'C0OTHER001', 'C024BE91L']);
    expect([...(await names.all()).values()]).toEqual(['#other']);
  });

  test('of one that never answers hold up no others', async () => {
    const { asked, routed, round, names } = setUp({ C024BE91L: refused('503', 'unavailable'), C0OTHER001: '#other' });
    routed.push(OTHER);
    await round();
    await round();
    await round();
    expect(asked).toEqual(['C024BE91L', 'C0OTHER001', 'C024BE91L', 'C024BE91L']);
    expect([...(await names.all()).values()]).toEqual(['#other']);
  });

  test.each([
    ['a code that nobody documented', refused('weird_code', 'unknown')],
    ['an answer that breaks the channel', new TypeError('x is not a function')],
  ])('after %s are asked for the next day, and others at once', async (_what, answer) => {
    const { asked, time, routed, round, names } = setUp({ C024BE91L: answer, C0OTHER001: '#other' });
    routed.push(OTHER);
    await round();
    await round();
    expect(asked).toEqual(['C024BE91L', 'C0OTHER001']);
    expect([...(await names.all()).values()]).toEqual(['#other']);
    time.now += DAY_MS + 1;
    await round();
    expect(asked).toHaveLength(4);
  });

  test('nothing is noted where Redis does not take it', async () => {
    const { redis, round, asked } = setUp();
    redis.disconnect();
    await expect(round()).rejects.toThrow();
    expect(asked).toEqual([]);
  });

  test('are asked for a few at a time', async () => {
    const { asked, routed, round } = setUp();
    routed.push(...Array.from({ length: 15 }, (_, n) => destinationOf('slack', `C0MANY${String(n).padStart(4, '0')}`)));
    await round();
    expect(asked).toHaveLength(10);
    await round();
    expect(new Set(asked).size).toBe(16);
  });

  test('are at most five thousand: what nothing leads to gives way', async () => {
    const { redis, prefix, names, round } = setUp();
    const others = Array.from({ length: 5000 }, (_, n) => [`slack-${n}`, '{"name":"#x","at":1}']).flat();
    await redis.hset(`${prefix}:names`, ...others);
    await round();
    expect(await names.all()).toEqual(new Map([[ALERTS.id, '#alerts']]));
    expect(await redis.ttl(`${prefix}:names`)).toBeGreaterThan(0);
  });
});
