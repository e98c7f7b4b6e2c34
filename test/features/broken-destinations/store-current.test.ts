import { expect, test } from 'vitest';
import { conditionText, nextStepOf } from '../../../src/condition.ts';
import { conditionsOf } from '../../../src/features/conditions/list.ts';
import { createOutageStore, currentOutages } from '../../../src/features/conditions/outages.ts';
import { destinationOf } from '../../support/alerts.ts';
import { TOLD } from '../../support/outages.ts';
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
  uptimeMs: 0,
  ready: true,
  checks: [],
  services: [],
  conditions: [],
  silentMs: 0,
};

test('names broken senders first and then broken destinations; those that work are left out', async () => {
  const { redis, prefix } = openTestRedis();
  const outages = createOutageStore(redis, prefix);
  expect(await currentOutages(outages, [SLACK, MAIL])).toEqual([]);
  await outages.note(MAIL.id, { ...TOLD, ...OUTAGE, announcedTo: [] });
  await outages.note('sender-slack', { ...TOLD, ...OUTAGE, message: 'the token is revoked', announcedTo: [] });
  const found = await currentOutages(outages, [SLACK, MAIL]);
  expect(found.map(({ id, kind }) => [id, kind])).toEqual([
    ['sender-slack', 'slack'],
    [MAIL.id, 'email'],
  ]);
  const conditions = conditionsOf({ daemons: [RUNNING], silent: [], broken: found, dead: 0, notes: [] });
  expect(conditions.map(({ name, of }) => [name, of])).toEqual([
    ['channel', 'slack'],
    ['destination', MAIL.id],
  ]);
  expect(conditions.map(conditionText)).toEqual([
    'no Slack channel gets alerts since 2026-11-20 12:00:00 UTC: the token is revoked',
    'email a@example.com takes no alerts since 2026-11-20 12:00:00 UTC: it timed out',
  ]);
});

test('what died at a broken destination follows from that; what died elsewhere does not', async () => {
  const { redis, prefix } = openTestRedis();
  const outages = createOutageStore(redis, prefix);
  await outages.note(MAIL.id, { ...TOLD, ...OUTAGE, announcedTo: [] });
  const broken = await currentOutages(outages, [SLACK, MAIL]);
  const deadAt = new Map([
    [MAIL.id, { dead: 2 }],
    [SLACK.id, { dead: 1 }],
  ]);
  const listed = (dead: number) =>
    conditionsOf({ daemons: [RUNNING], silent: [], broken, dead, deadAt, notes: [] }).map(
      ({ name, what, affected }) => ({
        ...{ name, what, affected },
      }),
    );
  const [destination, ...others] = listed(3);
  expect(destination).toMatchObject({
    name: 'destination',
    affected: ['2 deliveries are dead and kept: see tocsin dead list'],
  });
  expect(others).toMatchObject([{ name: 'dead', what: 'one delivery is dead and kept: see tocsin dead list' }]);
  expect(listed(2).map(({ name }) => name)).toEqual(['destination']);
});

test('what mends it is the next step of the status, too; of an outage that an older daemon noted the usual one', async () => {
  const { redis, prefix } = openTestRedis();
  const outages = createOutageStore(redis, prefix);
  const explanation = { is: 'is archived', todo: 'unarchive the channel' };
  await outages.note(SLACK.id, { ...TOLD, ...OUTAGE, reason: 'destination-dead', explanation, announcedTo: [] });
  await outages.note(MAIL.id, { ...TOLD, ...OUTAGE, announcedTo: [] });
  const broken = await currentOutages(outages, [SLACK, MAIL]);
  const conditions = conditionsOf({ daemons: [RUNNING], silent: [], broken, dead: 0, notes: [] });
  expect(conditions.map(nextStepOf)).toEqual([
    'unarchive the channel',
    'see why it does not answer; `tocsin destinations list` has its error',
  ]);
});
