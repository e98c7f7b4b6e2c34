/**
 * What became of each alert at each destination: one hash an alert, kept for weeks and independent of the queue's own
 * retention. Asked before every send, so that a repeated job sends no delivered alert again.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination, Parcel } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import { createGroupCommit } from '../redis/pipeline.ts';
import { iso } from '../time.ts';
import { parseRecord, parseSummary, stateOf } from './encoding.ts';
import {
  ALERT_FIELD,
  type AlertRecord,
  type AttemptEnd,
  afterAttempt,
  type DeliveryRecord,
  type DeliveryState,
  isFinal,
  type LedgerKeys,
  ledgerKeys,
  type Target,
  targetOf,
} from './record.ts';
import { createTransactions } from './transactions.ts';
import { type Change, createWrites, recordWaiting } from './writes.ts';

export type { Act, AlertRecord, Attempt, DeliveryRecord, DeliveryState, Target } from './record.ts';

export interface Ledger {
  /** Records deliveries as waiting; `by` names who asked for them, where that is not the routes. Known ones stay as they are. */
  recordWaiting(parcels: readonly Parcel[], by?: string): Promise<void>;
  /** Those of a parcel's alerts that still have to be sent. */
  pending(destination: Destination, alerts: readonly Alert[]): Promise<Alert[]>;
  /** Those of these alerts' ids whose delivery there waits; not those that the ledger does not know. */
  waiting(destination: Destination, ids: readonly string[]): Promise<string[]>;
  /**
   * Records one attempt for every alert in it; an end that was reached stays, see `REPLACES`. Gives, in the order of
   * `alerts`, the state that each was found in; undefined where the ledger did not know it.
   */
  recordAttempt(
    destination: Target,
    alerts: readonly Alert[],
    result: AttemptEnd,
  ): Promise<(DeliveryState | undefined)[]>;
  read(alertId: string): Promise<AlertRecord | undefined>;
  /** How many deliveries wait, by destination id; a destination without any is left out. */
  waitingByDestination(): Promise<Record<string, number>>;
  /** The date of these tracks' oldest alert with a waiting delivery, in epoch milliseconds. */
  oldestOpen(...tracks: readonly Pick<Alert, 'service' | 'source' | 'protocol'>[]): Promise<number | undefined>;
  /** Alert ids that name a transaction. */
  byTransaction(txHash: string): Promise<string[]>;
  /** Ids of alerts whose transaction begins with these hex digits, of which the first eight count; at most so many. */
  byTransactionBeginning(digits: string, most: number): Promise<string[]>;
}

const waitingRecord = (destination: Destination, at: string, by?: string): DeliveryRecord => ({
  state: 'waiting',
  destination: targetOf(destination),
  at,
  attempts: [],
  ...(by === undefined ? {} : { by }),
});

/** So much later, in milliseconds, an attempt is recorded than it could be, so that others come along. */
const GATHER_MS = 5;

/** KEYS: alerts; ARGV: a destination. A pipeline would cost this process more, a command for each of them. */
const READ = `
local found = {}
for i, key in ipairs(KEYS) do found[i] = redis.call('HGET', key, ARGV[1]) end
return found`;
const READ_AT_ONCE = 500;

/** KEYS: the alerts that are open, of several tracks. The answer is a text: a date is no whole number for Lua. */
const OLDEST = `
local oldest
for _, key in ipairs(KEYS) do
  local at = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if at and (not oldest or tonumber(at) < tonumber(oldest)) then oldest = at end
end
return oldest or false`;

/** Of a digest's thousands of alerts, so many are recorded before others have their turn. */
const RECORDED_AT_ONCE = 250;

/** What deliveries were when they were read last, so that the end of one need not read it again. */
const createMemory = () => {
  const texts = new WeakMap<Alert, { destination: string; text: string }>();
  return {
    keep: (alert: Alert, destination: string, text: string): void => void texts.set(alert, { destination, text }),
    take: ({ alert, destination }: Change): string | undefined => {
      const known = texts.get(alert);
      texts.delete(alert);
      return known?.destination === destination.id ? known.text : undefined;
    },
  };
};

/** What changes with a delivery. */
const createLedgerWrites = (redis: Redis | Cluster, keys: LedgerKeys, now: () => number) => {
  const change = createWrites(redis, keys, now);
  const memory = createMemory();

  /** Attempts that end at about the same time, in whatever jobs, are recorded by one script. */
  const record = createGroupCommit(async (groups: readonly Change[][]) => {
    const states = (await change(groups.flat(), memory.take)).map((before) => before?.state);
    return groups.map(({ length }) => states.splice(0, length));
  }, GATHER_MS);

  const textsOf = async ({ id }: Target, alerts: readonly Pick<Alert, 'id'>[]): Promise<(string | null)[]> => {
    const texts: (string | null)[] = [];
    for (const chunk of chunksOf(alerts, READ_AT_ONCE)) {
      const own = chunk.map((alert) => keys.alert(alert.id));
      texts.push(...((await redis.eval(READ, own.length, ...own, id)) as (string | null)[]));
    }
    return texts;
  };

  const writes: Pick<Ledger, 'recordWaiting' | 'pending' | 'waiting' | 'recordAttempt'> = {
    recordWaiting: async (parcels, by) => {
      if (parcels.length === 0) return;
      const at = iso(now());
      const records = new Map(parcels.map(({ destination }) => [destination.id, waitingRecord(destination, at, by)]));
      await recordWaiting(redis, keys, parcels, records);
    },
    pending: async (destination, alerts) => {
      const texts = await textsOf(destination, alerts);
      return alerts.filter((alert, index) => {
        const text = texts[index] ?? '';
        memory.keep(alert, destination.id, text);
        return text === '' || !isFinal(stateOf(text));
      });
    },
    waiting: async (destination, ids) => {
      const texts = await textsOf(
        destination,
        ids.map((id) => ({ id })),
      );
      return ids.filter((_, index) => {
        const text = texts[index] ?? '';
        return text !== '' && stateOf(text) === 'waiting';
      });
    },
    recordAttempt: async (destination, alerts, result) => {
      const next = (before: DeliveryRecord | undefined): DeliveryRecord => afterAttempt(before, destination, result);
      const found: (DeliveryState | undefined)[] = [];
      for (const some of chunksOf(alerts, RECORDED_AT_ONCE)) {
        found.push(...(await record.commit(some.map((alert) => ({ destination, alert, next })))));
      }
      return found;
    },
  };
  return writes;
};

export const createLedger = (redis: Redis | Cluster, prefix: string, now: () => number): Ledger => {
  const keys = ledgerKeys(prefix);
  const transactions = createTransactions(redis, keys);
  return {
    ...createLedgerWrites(redis, keys, now),
    read: async (id) => {
      const { [ALERT_FIELD]: alert, ...deliveries } = await redis.hgetall(keys.alert(id));
      if (alert === undefined) return undefined;
      return {
        alert: parseSummary(id, alert),
        deliveries: Object.entries(deliveries).map(([destination, text]) => parseRecord(destination, text)),
      };
    },
    waitingByDestination: async () => {
      const counts = Object.entries(await redis.hgetall(keys.waiting));
      return Object.fromEntries(counts.map(([id, count]) => [id, Number(count)] as const).filter(([, n]) => n > 0));
    },
    oldestOpen: async (...tracks) => {
      const found: number[] = [];
      for (const chunk of chunksOf(tracks, READ_AT_ONCE)) {
        const at = await redis.eval(OLDEST, chunk.length, ...chunk.map(keys.open));
        if (at !== null) found.push(Number(at));
      }
      return found.length === 0 ? undefined : Math.min(...found);
    },
    byTransaction: transactions.alertsOf,
    byTransactionBeginning: transactions.beginningWith,
  };
};
