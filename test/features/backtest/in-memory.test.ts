/** What a simulation keeps in memory answers as what a daemon keeps in Redis. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Alert, Destination, Mute } from '../../../src/alert.ts';
import {
  createMemoryCoveredDeliveries,
  createMemoryLedger,
  createMemoryMutes,
} from '../../../src/features/backtest/in-memory.ts';
import { createCoveredDeliveries } from '../../../src/features/correlation/correlate.ts';
import { createMuteStore } from '../../../src/features/mutes/store.ts';
import { createLedger } from '../../../src/ledger/ledger.ts';
import { iso } from '../../../src/time.ts';
import { destinationOf } from '../../support/alerts.ts';
import { hashOf, makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const NOW = Date.parse('2026-11-20T12:00:00Z');
const now = () => NOW;
const DESTINATIONS = [destinationOf('slack', 'C1'), destinationOf('slack', 'C2')];
/** Two of one transaction. */
const ALERTS = [makeAlert(1), makeAlert(2, { txHash: hashOf(1).toUpperCase().replace('X', 'x') }), makeAlert(3)];
const MUTE: Mute = {
  id: 'm1',
  ...{ protocols: [], detectors: [], destinations: [], reason: 'upgrade' },
  ...{ from: iso(NOW), until: iso(NOW + 60_000) },
};
const ITEM = { severity: 'CRITICAL', protocol: 'P', type: 't', detectors: [], itemId: 'i', at: iso(NOW) };
const DELIVERED = {
  state: 'delivered',
  handle: 'h',
  attempt: { at: iso(NOW), outcome: 'delivered', durationMs: 0 },
} as const;

type Stores = ReturnType<typeof inRedis> | ReturnType<typeof inMemory>;

const inRedis = () => {
  const { redis, prefix } = openTestRedis();
  const ledger = createLedger(redis, prefix, now);
  return { ledger, covered: createCoveredDeliveries(redis, prefix, now), mutes: createMuteStore(redis, prefix, now) };
};

const inMemory = () => {
  const ledger = createMemoryLedger(now);
  return { ledger, covered: createMemoryCoveredDeliveries(ledger, now), mutes: createMemoryMutes(ledger, now) };
};

const ACTS = {
  wait: ({ ledger }, destination, alerts) => ledger.recordWaiting([{ destination, alerts: [...alerts] }]),
  deliver: ({ ledger }, destination, alerts) => ledger.recordAttempt(destination, alerts, DELIVERED),
  cover: ({ covered }, destination, [alert]) => alert && covered.end(alert, destination, 'another'),
  mute: ({ mutes }, _, [alert]) => alert && mutes.hide(MUTE, alert, ITEM, DESTINATIONS),
  pending: ({ ledger }, destination, alerts) => ledger.pending(destination, alerts),
} satisfies Record<string, (stores: Stores, destination: Destination, alerts: readonly Alert[]) => unknown>;

/** What is kept of an alert, as far as a simulation asks for it. */
const keptOf = async ({ ledger }: Stores) => ({
  deliveries: await Promise.all(
    ALERTS.map(async ({ id }) =>
      ((await ledger.read(id))?.deliveries ?? [])
        .map(({ state, destination, handle, with: other }) => ({ state, to: destination.id, handle, other }))
        .toSorted((a, b) => a.to.localeCompare(b.to)),
    ),
  ),
  together: (await ledger.byTransaction(hashOf(1))).toSorted(),
  none: await ledger.byTransaction(hashOf(7)),
});

test('deliveries that wait, were sent, covered or muted are the same in memory', async () => {
  const steps = fc.array(
    fc.record({
      act: fc.constantFrom<keyof typeof ACTS>('wait', 'wait', 'deliver', 'cover', 'mute', 'pending'),
      destination: fc.constantFrom(...DESTINATIONS),
      alerts: fc.subarray(ALERTS, { minLength: 1 }),
    }),
    { maxLength: 12 },
  );
  const prove = async (some: readonly { act: keyof typeof ACTS; destination: Destination; alerts: Alert[] }[]) => {
    const [real, memory] = [inRedis(), inMemory()];
    for (const { mutes } of [real, memory]) expect(await mutes.add(MUTE)).toBe(true);
    for (const { act, destination, alerts } of some) {
      expect(await ACTS[act](memory, destination, alerts)).toEqual(await ACTS[act](real, destination, alerts));
    }
    expect(await keptOf(memory)).toEqual(await keptOf(real));
  };
  await fc.assert(fc.asyncProperty(steps, prove), { numRuns: 80 });
});

test('a mute is known once, and forgotten when another begins after its end', async () => {
  let time = NOW;
  const mutes = createMemoryMutes(createMemoryLedger(now), () => time);
  expect([await mutes.add(MUTE), await mutes.add(MUTE)]).toEqual([true, false]);
  const [alert] = ALERTS;
  if (alert) await mutes.hide(MUTE, alert, ITEM, DESTINATIONS);
  time += 60_000;
  await mutes.add({ ...MUTE, id: 'm2', until: iso(time + 60_000) });
  expect((await mutes.list()).map(({ id }) => id)).toEqual(['m2']);
  expect([mutes.hidBy('m1'), mutes.hidBy('m2')]).toEqual([1, 0]);
});
