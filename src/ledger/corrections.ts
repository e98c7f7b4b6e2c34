/** What operators change in the ledger. An ordinary delivery never comes here. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert } from '../alert.ts';
import { askEach } from '../redis/pipeline.ts';
import { iso } from '../time.ts';
import {
  type Act,
  type DeliveryRecord,
  type DeliveryState,
  lastFew,
  ledgerKeys,
  NO_DESTINATION,
  type Target,
  targetOf,
} from './record.ts';
import { createWrites, recordAlert } from './writes.ts';

/** The states that may be amended; a delivery that the ledger does not know may be, too. */
const FROM = { retried: ['dead'], replayed: ['dead', 'delivered', 'muted'], dropped: ['dead'] } as const;
type Amendment = keyof typeof FROM;
const mayAmend = (act: Amendment, { state }: DeliveryRecord): boolean => FROM[act].some((one) => one === state);

export const createCorrections = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const keys = ledgerKeys(prefix);
  const change = createWrites(redis, keys, now);

  const amended = (before: DeliveryRecord | undefined, target: Target, act: Act): DeliveryRecord => ({
    attempts: [],
    ...before,
    state: act.act === 'dropped' ? 'dead' : 'waiting',
    destination: targetOf(target),
    at: act.at,
    acts: lastFew([...(before?.acts ?? []), act]),
  });

  /**
   * What is reopened is not added to the track's open alerts: an alert sent again by hand must not hold back the cursor
   * backup, or a loss of Redis would send everything since that alert again.
   */
  const amend = async (
    target: Target,
    alerts: readonly Alert[],
    act: Amendment,
  ): Promise<(DeliveryState | undefined)[]> => {
    const done: Act = { at: iso(now()), act };
    await askEach(redis, alerts, (batch, alert) => recordAlert(batch, keys, alert));
    const next = (before: DeliveryRecord | undefined): DeliveryRecord | undefined =>
      before && !mayAmend(act, before) ? undefined : amended(before, target, done);
    const found = await change(alerts.map((alert) => ({ destination: target, alert, next })));
    return found.map((before) => before?.state);
  };

  return {
    /**
     * Makes ended deliveries wait again: dead ones for `retried`, all for `replayed`. Gives, in the order of `alerts`, the
     * state that each was found in; undefined where the ledger did not know it, which reopens it as well.
     */
    reopen: (target: Target, alerts: readonly Alert[], act: 'retried' | 'replayed') => amend(target, alerts, act),
    /** Records that an operator gave up dead deliveries; they stay dead. Gives the states they were found in. */
    drop: (target: Target, alerts: readonly Alert[]) => amend(target, alerts, 'dropped'),
    /** Removes the record that an alert had no destination, once it has one. */
    clearUnroutable: async (alerts: readonly Alert[]): Promise<void> => {
      await askEach(redis, alerts, (batch, { id }) => batch.hdel(keys.alert(id), NO_DESTINATION.id));
    },
  };
};

export type Corrections = ReturnType<typeof createCorrections>;
