import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import type { AnnouncementInput } from '../../../src/features/announcements/announce.ts';
import { createStormEnd, createStorms, QUIET_MS } from '../../../src/features/storms/storms.ts';
import { openTestRedis } from '../../support/redis.ts';

const { redis, prefix: run } = openTestRedis();

const AT = Date.parse('2026-11-20T02:40:12.000Z');
const SLACK: Destination = { id: 'slack-000000000001', kind: 'slack', address: 'C1', label: 'C1' };
const EMAIL: Destination = {
  id: 'email-000000000002',
  kind: 'email',
  address: 'a@example.com',
  label: 'a@example.com',
};

const play = () => {
  const prefix = `${run}:${randomUUID()}`;
  let time = AT;
  const storms = createStorms(redis, prefix, () => time);
  const told: [string, string, string[]][] = [];
  const open = new Set<string>();
  const sealed: Record<string, number> = {};
  const closed = new Set<string>();
  const removed = new Set<string>();
  const end = createStormEnd({
    storms,
    ledger: {
      waitingByDestination: async () => ({ ...sealed, ...Object.fromEntries([...open].map((id) => [id, 1])) }),
    },
    announce: async ({ about, message }: AnnouncementInput, _at, destinations) => {
      told.push([about, message, destinations.map(({ id }) => id)]);
      return 'id';
    },
    isOpen:
      async () =>
      ({ id }) =>
        !closed.has(id),
    isConfigured: ({ id }) => !removed.has(id),
    now: () => time,
  });
  return {
    ...{ storms, told, open, sealed, closed, removed, end, prefix },
    later: (ms: number) => {
      time += ms;
    },
  };
};

test('digests in a row are counted for each destination', async () => {
  const { storms, later } = play();
  expect(await storms.soFar(SLACK)).toEqual({ messages: 0, alerts: 0 });
  await storms.noteDigest(SLACK, 12);
  later(10_000);
  await storms.noteDigest(SLACK, 1988);
  expect(await storms.soFar(SLACK)).toEqual({ messages: 2, alerts: 2000 });
  expect(await storms.soFar(EMAIL)).toEqual({ messages: 0, alerts: 0 });
  later(QUIET_MS + 1);
  expect(await storms.soFar(SLACK)).toEqual({ messages: 0, alerts: 0 });
});

test('the destination hears once that the last digest was the last, and how many there were', async () => {
  const { storms, told, end, later, prefix } = play();
  await storms.noteDigest(SLACK, 12);
  later(60_000);
  await storms.noteDigest(SLACK, 1988);
  await end();
  expect(told).toEqual([]);
  later(QUIET_MS);
  await end();
  await end();
  expect(told).toEqual([
    [
      'storm.over',
      'Alerts come one by one again: 2,000 came in 2 messages.\nFrom 2026-11-20 02:40:12 to 02:41:12 UTC. This does not mean that an attack is over.\nTo do: go through the messages above: they list all of them, the worst first.',
      [SLACK.id],
    ],
  ]);
  expect(await redis.keys(`${prefix}:storm*`)).toEqual([]);
});

test('one digest alone was no storm, and is forgotten', async () => {
  const { storms, told, end, later, prefix } = play();
  await storms.noteDigest(EMAIL, 7);
  later(QUIET_MS);
  await end();
  expect(told).toEqual([]);
  expect(await redis.keys(`${prefix}:storm*`)).toEqual([]);
});

test('a storm is not over while alerts wait in a batch', async () => {
  const { storms, told, open, end, later } = play();
  await storms.noteDigest(SLACK, 7);
  await storms.noteDigest(SLACK, 8);
  open.add(SLACK.id);
  later(QUIET_MS * 3);
  await end();
  expect(told).toEqual([]);
  open.clear();
  await end();
  expect(told).toHaveLength(1);
});

test('a storm is not over while its last batch is tried again, and goes on where it was', async () => {
  const { storms, told, sealed, end, later } = play();
  await storms.noteDigest(SLACK, 7);
  await storms.noteDigest(SLACK, 8);
  sealed[SLACK.id] = 40;
  later(QUIET_MS * 3);
  await end();
  expect(told).toEqual([]);
  expect(await storms.soFar(SLACK)).toEqual({ messages: 2, alerts: 15 });
  delete sealed[SLACK.id];
  await storms.noteDigest(SLACK, 40);
  later(QUIET_MS);
  await end();
  expect(told[0]?.[1]).toMatch(/^Alerts come one by one again: 55 came in 3 messages\./);
});

test('nothing of a storm stays for ever, not even where it was forgotten before its end was noted', async () => {
  const { storms, prefix } = play();
  await storms.noteDigest(SLACK, 7);
  await storms.forget(SLACK);
  await storms.noteWaiting(SLACK);
  const left = await redis.keys(`${prefix}:*`);
  expect(left).toHaveLength(1);
  for (const key of left) expect(await redis.pttl(key)).toBeGreaterThan(0);
});

test.each(['closed', 'removed'] as const)('a destination that was %s meanwhile hears nothing', async (state) => {
  const world = play();
  const { storms, told, end, later, prefix } = world;
  for (const destination of [SLACK, EMAIL]) {
    await storms.noteDigest(destination, 7);
    await storms.noteDigest(destination, 8);
  }
  world[state].add(SLACK.id);
  later(QUIET_MS);
  await end();
  expect(told.map(([, , to]) => to)).toEqual([[EMAIL.id]]);
  expect(await redis.keys(`${prefix}:*`)).toEqual([]);
});
