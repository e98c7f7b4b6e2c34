/** What delivery keeps in Redis, kept in memory instead for the length of a forecast, where nothing fails. */
import type { Alert, Destination } from '../../alert.ts';
import { EMPTY_STATE } from '../../deliver/rate-limit-rule.ts';
import type { KeptState, RateStateStore } from '../../deliver/rate-state-store.ts';
import { type Earlier, type Threads, transactionOf } from '../../deliver/threads.ts';
import { type BatchStore, oldestFirst } from '../../queue/batch-store.ts';

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

export const createMemoryBatchStore = (): BatchStore => {
  const waiting = new Map<string, Map<string, Alert>>();
  const counts = new Map<string, number>();
  const frozen = new Map<string, Alert[]>();
  const keyOf = (id: string, gathering: number): string => `${id} ${gathering}`;
  return {
    add: async ({ id }, alerts) => {
      const gathered = waiting.get(id) ?? new Map<string, Alert>();
      if (gathered.size === 0) counts.set(id, (counts.get(id) ?? 0) + 1);
      for (const alert of alerts) gathered.set(alert.id, alert);
      waiting.set(id, gathered);
      return counts.get(id) ?? 0;
    },
    hasOpenBatch: async ({ id }) => waiting.has(id),
    seal: async ({ id }, gathering) => {
      const key = keyOf(id, gathering);
      const open = frozen.has(key) || counts.get(id) !== gathering ? undefined : waiting.get(id);
      if (open) {
        frozen.set(key, [...open.values()].sort(oldestFirst));
        waiting.delete(id);
      }
      return frozen.get(key) ?? [];
    },
    drop: async ({ id }, gathering) => void frozen.delete(keyOf(id, gathering)),
  };
};

/** `windowMs`: how long after it was sent a message still takes in findings of its transaction. History has no follow-ups. */
export const createMemoryThreads = (windowMs: number, now: () => number): Threads => {
  const told = new Map<string, Earlier & { until: number }>();
  const keyOf = ({ id }: Destination, alerts: readonly Alert[]): string | undefined => {
    const txHash = transactionOf(alerts);
    return windowMs > 0 && txHash !== undefined ? `${id} ${txHash}` : undefined;
  };
  return {
    find: async (destination, alerts) => {
      const earlier = told.get(keyOf(destination, alerts) ?? '');
      return earlier && earlier.until > now() ? earlier : undefined;
    },
    remember: async (destination, alerts, handle) => {
      const key = keyOf(destination, alerts);
      if (key !== undefined) told.set(key, { handle, alerts: [...alerts], until: now() + windowMs });
    },
    claim: async (destination, alerts) => (keyOf(destination, alerts) === undefined ? undefined : async () => {}),
  };
};
