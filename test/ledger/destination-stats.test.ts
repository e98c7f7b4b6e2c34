/** Statistics of destinations: sums over all daemons, and the last error until something works again. */
import { expect, test } from 'vitest';
import { createDestinationStats } from '../../src/ledger/destination-stats.ts';
import { destinationOf } from '../support/alerts.ts';
import { openTestRedis } from '../support/redis.ts';

const SLACK = destinationOf('slack', 'C1');
const MAIL = destinationOf('email', 'ops@example.com');
const [EARLY, LATE] = ['2026-11-20T12:00:00.000Z', '2026-11-20T12:05:00.000Z'] as const;

test('sum what several daemons did, by kind and label', async () => {
  const { redis, prefix } = openTestRedis();
  const [one, other] = [createDestinationStats(redis, prefix), createDestinationStats(redis, prefix)];
  expect(await one.list()).toEqual([]);
  await one.succeeded(SLACK, 3, EARLY);
  await other.succeeded(SLACK, 2, LATE);
  await other.failed(MAIL, EARLY, 'mailbox full');
  expect(await one.list()).toEqual([
    {
      id: MAIL.id,
      kind: 'email',
      label: MAIL.label,
      delivered: 0,
      lastFailure: EARLY,
      lastError: 'mailbox full',
    },
    { id: SLACK.id, kind: 'slack', label: SLACK.label, delivered: 5, lastSuccess: LATE },
  ]);
});

test('a success clears the last error and keeps the rest', async () => {
  const { redis, prefix } = openTestRedis();
  const stats = createDestinationStats(redis, prefix);
  await stats.failed(SLACK, EARLY, 'channel_not_found');
  await stats.succeeded(SLACK, 1, LATE);
  expect(await stats.list()).toEqual([
    { id: SLACK.id, kind: 'slack', label: SLACK.label, delivered: 1, lastSuccess: LATE, lastFailure: EARLY },
  ]);
});
