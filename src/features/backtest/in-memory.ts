/** What a daemon keeps in Redis, kept in memory instead for the length of a simulation, where nothing fails. No rules. */
import type { Alert, Destination, Mute } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import { EMPTY_STATE } from '../../deliver/rate-limit-rule.ts';
import type { KeptState, RateStateStore } from '../../deliver/rate-limiter.ts';
import type { Batching } from '../../deliver/stage.ts';
import type { Remembered, ThreadStore } from '../../deliver/thread-store.ts';
import { createThreads, type Threads } from '../../deliver/threads.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { afterAttempt, type DeliveryRecord, isFinal, targetOf } from '../../ledger/record.ts';
import { oldestFirst } from '../../queue/batch-store.ts';
import { iso } from '../../time.ts';
import type { CoveredDeliveries } from '../correlation/correlate.ts';
import type { MuteStore, StoredMute } from '../mutes/store.ts';

type Deliveries = Map<Destination['id'], DeliveryRecord>;

interface MemoryLedger extends Pick<Ledger, 'recordWaiting' | 'pending' | 'recordAttempt' | 'read' | 'byTransaction'> {
  /** The deliveries of an alert, to be changed in place. */
  deliveriesOf(alert: Alert): Deliveries;
}

export const createMemoryLedger = (now: () => number): MemoryLedger => {
  const records = new Map<Alert['id'], { alert: Alert; deliveries: Deliveries }>();
  const transactions = new Map<string, Alert['id'][]>();

  const deliveriesOf = (alert: Alert): Deliveries => {
    const known = records.get(alert.id);
    if (known) return known.deliveries;
    const deliveries: Deliveries = new Map();
    records.set(alert.id, { alert, deliveries });
    const hash = alert.txHash?.toLowerCase();
    if (hash !== undefined) transactions.set(hash, [...(transactions.get(hash) ?? []), alert.id]);
    return deliveries;
  };

  return {
    deliveriesOf,
    recordWaiting: async (parcels) => {
      for (const { destination, alerts } of parcels) {
        const kept = { destination: targetOf(destination), at: iso(now()), attempts: [] };
        for (const alert of alerts) {
          const deliveries = deliveriesOf(alert);
          if (!deliveries.has(destination.id)) deliveries.set(destination.id, { state: 'waiting', ...kept });
        }
      }
    },
    pending: async ({ id }, alerts) =>
      alerts.filter((alert) => !isFinal(records.get(alert.id)?.deliveries.get(id)?.state ?? 'waiting')),
    recordAttempt: async (destination, alerts, result) =>
      alerts.map((alert) => {
        const deliveries = deliveriesOf(alert);
        const record = deliveries.get(destination.id);
        deliveries.set(destination.id, afterAttempt(record, destination, result));
        return record?.state;
      }),
    read: async (id) => {
      const known = records.get(id);
      return known && { alert: known.alert, deliveries: [...known.deliveries.values()] };
    },
    byTransaction: async (txHash) => transactions.get(txHash.toLowerCase()) ?? [],
  };
};

export const createMemoryCoveredDeliveries = (
  ledger: Pick<MemoryLedger, 'deliveriesOf'>,
  now: () => number,
): CoveredDeliveries & { count(): number } => {
  const covered = new Set<Alert['id']>();
  return {
    end: async (alert, destination, other) => {
      const deliveries = ledger.deliveriesOf(alert);
      const before = deliveries.get(destination.id);
      if (before && (before.state !== 'waiting' || before.attempts.length > 0)) return false;
      const ended = { state: 'delivered' as const, destination: targetOf(destination), at: iso(now()), attempts: [] };
      deliveries.set(destination.id, { ...ended, with: other });
      covered.add(alert.id);
      return true;
    },
    everywhere: async () => {},
    /** How many alerts are covered at a destination or more. */
    count: () => covered.size,
  };
};

/** Keeps only the mutes that have not ended yet; their end is not announced. */
export const createMemoryMutes = (ledger: Pick<MemoryLedger, 'deliveriesOf'>, now: () => number) => {
  const mutes = new Map<Mute['id'], StoredMute>();
  const hidden = new Map<Mute['id'], number>();
  const store: Pick<MuteStore, 'list' | 'add' | 'hide'> = {
    list: async () => [...mutes.values()],
    add: async (mute) => {
      if (mutes.has(mute.id)) return false;
      for (const { id, until } of mutes.values()) if (Date.parse(until) <= now()) mutes.delete(id);
      mutes.set(mute.id, { ...mute, hid: 0 });
      return true;
    },
    hide: async (mute, alert, _item, destinations) => {
      const deliveries = ledger.deliveriesOf(alert);
      const hid = destinations.filter(({ id }) => !deliveries.has(id));
      const others = destinations.filter(({ id }) => (deliveries.get(id)?.state ?? 'muted') !== 'muted');
      for (const one of hid) {
        deliveries.set(one.id, { state: 'muted', destination: targetOf(one), at: iso(now()), attempts: [] });
      }
      if (hid.length > 0) hidden.set(mute.id, (hidden.get(mute.id) ?? 0) + 1);
      return { hid, others };
    },
  };
  /** Alerts that a mute hid at a destination or more. */
  return { ...store, hidBy: (id: Mute['id']): number => hidden.get(id) ?? 0 };
};

export const createMemoryRateStateStore = (): RateStateStore => {
  const states = new Map<string, KeptState>();
  let writes = 0;
  return {
    compareAndSet: async (id, expected, next) => {
      const kept = states.get(id) ?? { version: '0', state: EMPTY_STATE };
      if (kept.version !== (expected?.version ?? '0')) return { isMatch: false, kept };
      if (!next) return { isMatch: true, kept };
      writes += 1;
      const written = { version: String(writes), state: next };
      states.set(id, written);
      return { isMatch: true, kept: written };
    },
  };
};

export const createMemoryBatchStore = (): Batching['batches'] => {
  const waiting = new Map<string, Map<string, Alert>>();
  const counts = new Map<string, number>();
  const sealed = new Map<string, Alert[]>();
  const keyOf = (id: string, batch: number): string => `${id} ${batch}`;
  return {
    add: async ({ id }, alerts) => {
      const open = getOrCreate(waiting, id, () => new Map());
      if (open.size === 0) counts.set(id, (counts.get(id) ?? 0) + 1);
      for (const alert of alerts) open.set(alert.id, alert);
      return [counts.get(id) ?? 0];
    },
    hasOpenBatch: async ({ id }) => waiting.has(id),
    seal: async ({ id }, batch) => {
      const key = keyOf(id, batch);
      const open = sealed.has(key) || counts.get(id) !== batch ? undefined : waiting.get(id);
      if (open) {
        sealed.set(key, [...open.values()].sort(oldestFirst));
        waiting.delete(id);
      }
      return sealed.get(key) ?? [];
    },
    drop: async ({ id }, batch) => void sealed.delete(keyOf(id, batch)),
  };
};

/** `windowMs`: how long after it was sent a message takes in inspections of its transaction. History has no follow-ups. */
export const createMemoryThreads = (windowMs: number, now: () => number): Threads => {
  const messages = new Map<string, Remembered>();
  const store: ThreadStore = {
    read: async (destination, hashes) => hashes.map((hash) => messages.get(`${destination} ${hash}`)),
    write: async (destination, hash, known) => void messages.set(`${destination} ${hash}`, known),
    keep: async () => {},
    claim: async () => async () => {},
  };
  return createThreads(store, { read: async () => undefined }, { windowMs, replyWithinMs: 0, now });
};
