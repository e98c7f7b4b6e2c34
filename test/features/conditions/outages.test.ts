import { expect, test } from 'vitest';
import { createOutageStore, currentOutages, type Outage } from '../../../src/features/conditions/outages.ts';
import { createAnnouncedStore, GROUPS } from '../../../src/features/conditions/store.ts';
import { TOLD } from '../../support/outages.ts';
import { openTestRedis } from '../../support/redis.ts';

const NOTED = { reason: 'unavailable', message: 'it timed out', announcedTo: [] } satisfies Partial<Outage>;
const KNOWN = ['email-known', 'email-1', 'email-2'].map((id) => ({ id, kind: 'email' as const, label: id }));

test('what is broken now says what of it somebody still has to hear of', async () => {
  const { redis, prefix } = openTestRedis();
  const now = () => Date.parse('2026-11-20T13:00:00.000Z');
  const outages = createOutageStore(redis, prefix, now);
  const { change } = createAnnouncedStore(redis, prefix, now);
  await outages.note('email-known', { ...TOLD, ...NOTED, since: '2026-11-20T12:00:00.000Z' });
  const later = await outages.note('email-2', {
    ...TOLD,
    ...NOTED,
    since: '2026-11-20T12:02:00.000Z',
    isAnnounced: false,
  });
  await outages.note('email-1', { ...TOLD, ...NOTED, since: '2026-11-20T12:01:00.000Z', isAnnounced: false });
  const unannounced = async () =>
    (await currentOutages(outages, KNOWN)).flatMap(({ id, outage }) => (outage.isAnnounced ? [] : [id]));
  expect(await unannounced()).toEqual(['email-1', 'email-2']);

  await change(GROUPS.broken, 'email-2', () => ({ ...later, isAnnounced: true }));
  expect(await unannounced()).toEqual(['email-1']);
  // Its delivery died.
  await change(GROUPS.broken, 'email-2', () => later);
  expect(await unannounced()).toEqual(['email-1', 'email-2']);
  await outages.enabled('email-2', '2026-11-20T12:30:00.000Z');
  expect(await unannounced()).toEqual(['email-1']);
  await outages.forget('email-1');
  expect(await unannounced()).toEqual([]);
  expect(await outages.find('email-known')).toBeDefined();
  for (const { id } of KNOWN) await outages.forget(id);
  expect(await redis.keys(`${prefix}:*announced:*`)).toEqual([]);
});
