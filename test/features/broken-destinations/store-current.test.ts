import { expect, test } from 'vitest';
import { createOutageStore, currentOutages } from '../../../src/features/broken-destinations/store.ts';
import { troublesOf } from '../../../src/features/status/troubles.ts';
import { nextStepOf, troubleText } from '../../../src/trouble.ts';
import { destinationOf } from '../../support/alerts.ts';
import { openTestRedis } from '../../support/redis.ts';

const SLACK = destinationOf('slack', 'C1', 'C1');
const MAIL = destinationOf('email', 'a@example.com', 'a@example.com');
const OUTAGE = {
  since: '2026-11-20T12:00:00.000Z',
  reason: 'unavailable',
  message: 'it timed out',
  announcedTo: [],
} as const;

const RUNNING = {
  id: 'a',
  host: 'alpha',
  pid: 1,
  version: '1',
  startedAt: OUTAGE.since,
  ready: true,
  checks: [],
  services: [],
  silentMs: 0,
};

test('names broken senders first and then broken destinations; those that work are left out', async () => {
  const { redis, prefix } = openTestRedis();
  const outages = createOutageStore(redis, prefix);
  expect(await currentOutages(outages, [SLACK, MAIL])).toEqual([]);
  await outages.note(MAIL.id, { ...OUTAGE, announcedTo: [] });
  await outages.note('sender-slack', { ...OUTAGE, message: 'the token is revoked', announcedTo: [] });
  const found = await currentOutages(outages, [SLACK, MAIL]);
  expect(found.map(({ id, kind }) => [id, kind])).toEqual([
    ['sender-slack', 'slack'],
    [MAIL.id, 'email'],
  ]);
  const troubles = troublesOf({ daemons: [RUNNING], services: [], silent: [], broken: found, dead: 0 });
  expect(troubles.map(({ name, of }) => [name, of])).toEqual([
    ['channel', 'slack'],
    ['destination', MAIL.id],
  ]);
  expect(troubles.map(troubleText)).toEqual([
    'everything by slack takes no alerts since 2026-11-20 12:00:00 UTC: the token is revoked',
    'email a@example.com takes no alerts since 2026-11-20 12:00:00 UTC: it timed out',
  ]);
});

test('what mends it is the next step of the status, too; of an outage that an older daemon noted the usual one', async () => {
  const { redis, prefix } = openTestRedis();
  const outages = createOutageStore(redis, prefix);
  const explanation = { is: 'is archived', todo: 'unarchive the channel' };
  await outages.note(SLACK.id, { ...OUTAGE, reason: 'destination-dead', explanation, announcedTo: [] });
  await outages.note(MAIL.id, { ...OUTAGE, announcedTo: [] });
  const broken = await currentOutages(outages, [SLACK, MAIL]);
  const troubles = troublesOf({ daemons: [RUNNING], services: [], silent: [], broken, dead: 0 });
  expect(troubles.map(nextStepOf)).toEqual([
    'unarchive the channel',
    'see why it does not answer; `tocsin destinations list` has its error',
  ]);
});
