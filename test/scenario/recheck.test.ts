/** Rechecks: who was alerted to a critical hears when it is none; what turns critical late is sent. */
import { expect, type onTestFinished, test } from 'vitest';
import { createCursors } from '../../src/poll/cursor.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

const { redis } = openTestRedis();

const NAMES = ['Vault', 'Bridge'];
/** The sweep sees nothing that is older than half a second: what turns critical later is for the recheck. */
const startLooking = (onFinished: typeof onTestFinished, secondLook: string[]): Promise<World> =>
  startWorld({
    onFinished,
    names: NAMES,
    config: {
      alerts: { secondLook },
      poll: { lookback: '500ms', overlap: '200ms', sweepEvery: '200ms', startFrom: 'now' },
    },
  });

const subjects = ({ sandbox }: World, txHash: string): string[] =>
  sandbox
    .received()
    .filter(({ text }) => text.toLowerCase().includes(txHash.toLowerCase()))
    .map(
      ({ kind, text }) =>
        `${kind} ${/\(was CRITICAL\)|inspection\.(?:downgraded|vanished)/.test(text) ? 'follow-up' : 'alert'}`,
    )
    .toSorted();

const EVERYWHERE = ['email', 'slack', 'telegram', 'webhook'];

test.concurrent('suspicious inspections that turn critical are sent, the others are not', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startLooking(onFinished, ['1s', '5s', '8s']);
  const daemon = await world.start();
  await daemon.watching();
  const { service } = world.sandbox;
  const [turning, staying] = ['Vault', 'Bridge'].map((protocol) =>
    service.insertInspection({ protocol, assessment: 'suspecious' }),
  );
  if (!turning || !staying) throw new Error('two were inserted');
  await until('both were read again', async () => (await daemon.metric('tocsin_second_looks_total')) >= 2);
  const cursors = createCursors(redis, world.prefix);
  await until('no sweep goes back to it', async () => {
    world.critical('Vault');
    await world.delivered();
    const [cursor] = await cursors.get([{ service: 'sandbox', source: 'inspections', protocol: 'Vault' }]);
    return Math.min(cursor?.sweptTo ?? 0, cursor?.position ?? 0) > turning.createdAt + 2000;
  });
  // Its dates stay: no read that goes by dates finds it.
  service.changeInspection(turning._id, { assessment: 'critical', updatedAt: turning.updatedAt });
  await until('it is sent', () => subjects(world, turning.txHash).length === 4);
  await world.balanced();
  expect(subjects(world, staying.txHash)).toEqual([]);
  expect(await daemon.metric('tocsin_second_looks_total', { outcome: 'forwarded' })).toBe(1);
});

test.concurrent('one follow-up each for what was downgraded and what is gone, where the first was sent', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startLooking(onFinished, ['1s', '2s', '3s']);
  const daemon = await world.start();
  await daemon.watching();
  const { service } = world.sandbox;
  const [downgraded] = world.critical('Vault');
  const [removed] = world.critical('Bridge');
  const [untouched] = world.critical('Vault');
  if (!downgraded || !removed || !untouched) throw new Error('three were inserted');
  await world.delivered();
  service.changeInspection(downgraded._id, { assessment: 'suspecious' });
  service.removeInspection(removed._id);
  const told = (kind: string) => EVERYWHERE.map((channel) => `${channel} ${kind}`);
  const both = [...told('alert'), ...told('follow-up')].toSorted();
  await until('both are sent', () =>
    [downgraded, removed].every(({ txHash }) => subjects(world, txHash).length === both.length),
  );
  const { slack, telegram } = world.sandbox.receivers;
  await until('the first messages say it in their titles', () => {
    const titles = [
      slack.edits().map(({ readable }) => readable.split('\n', 1)[0] ?? ''),
      telegram.edits().map(({ text }) => text.split('\n', 1)[0] ?? ''),
    ];
    return titles.every(
      (each) =>
        each.some((title) => /SUSPICIOUS \(was CRITICAL\) · Vault/.test(title)) &&
        each.some((title) => /NO LONGER LISTED \(was CRITICAL\) · Bridge/.test(title)),
    );
  });
  await until('all looks are over', async () => (await daemon.metric('tocsin_second_looks_total')) >= 8);
  world.critical('Bridge');
  await world.delivered();
  for (const { txHash } of [downgraded, removed]) expect(subjects(world, txHash)).toEqual(both);
  expect(subjects(world, untouched.txHash)).toEqual(told('alert'));
  const hooks = world.sandbox.receivers.webhook.received().map(({ raw }) => JSON.parse(raw.bodyText));
  const [change] = hooks.filter(({ type }) => type === 'inspection.downgraded');
  const [first] = world.sandbox.receivers.webhook
    .received()
    .filter(({ raw }) => raw.bodyText.includes(downgraded._id))
    .map(({ raw }) => raw.id);
  expect(change.data).toMatchObject({
    inspection: { _id: downgraded._id, assessment: 'suspecious' },
    followUp: { of: first, was: 'critical', is: 'suspecious' },
  });
});
