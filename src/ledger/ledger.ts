/**
 * What became of each alert at each destination: one hash an alert, kept for weeks and independent of the queue's own
 * retention. Asked before every send, so that a repeated job sends no delivered alert again.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination, Parcel } from '../alert.ts';
import { chunksOf, mapInChunks } from '../chunks.ts';
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
  openMember,
  type Target,
  targetOf,
  UNTRIED,
} from './record.ts';
import { createTransactions } from './transactions.ts';
import { type Change, createWrites, recordWaiting } from './writes.ts';

export type { AlertRecord, DeliveryRecord, DeliveryState, Target } from './record.ts';

const waitingRecord = (destination: Destination, at: string, by?: string): DeliveryRecord => ({
  state: 'waiting',
  destination: targetOf(destination),
  at,
  attempts: [],
  ...(by === undefined ? {} : { by }),
});

/** How many milliseconds an attempt waits, so that others are recorded along with it. */
const GATHER_MS = 5;

const READ_AT_ONCE = 500;

/** KEYS: the open deliveries of several tracks. The answer is a text: a date is no whole number for Lua. */
const OLDEST = `
local oldest
for _, key in ipairs(KEYS) do
  local at = redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
  if at and (not oldest or tonumber(at) < tonumber(oldest)) then oldest = at end
end
return oldest or false`;

/** A digest may have thousands of alerts: after this many, other records get their turn. */
const RECORDED_AT_ONCE = 250;

/** One field of each alert. Most deliveries are not read so, see `UNTRIED`. */
const readField = (redis: Redis | Cluster, keys: LedgerKeys, field: string, ids: readonly Alert['id'][]) =>
  mapInChunks(ids, READ_AT_ONCE, (id) => redis.hget(keys.alert(id), field));

/** What changes with a delivery. */
const createLedgerWrites = (redis: Redis | Cluster, keys: LedgerKeys, now: () => number) => {
  const change = createWrites(redis, keys, now);
  /** What deliveries were when they were read last, so that the end of one need not read it again. */
  const lastRead = new WeakMap<Alert, { destination: string; text: string }>();

  const takeRead = ({ alert, destination }: Change): string | undefined => {
    const known = lastRead.get(alert);
    lastRead.delete(alert);
    return known?.destination === destination.id ? known.text : undefined;
  };

  /** Attempts that end at about the same time, of any jobs, are recorded by one script. */
  const record = createGroupCommit(async (groups: readonly Change[][]) => {
    const states = (await change(groups.flat(), takeRead)).map((before) => before?.state);
    return groups.map(({ length }) => states.splice(0, length));
  }, GATHER_MS);

  const textsOf = (destination: Target, ids: readonly Alert['id'][]) => readField(redis, keys, destination.id, ids);

  /** Those of them whose delivery there waits and was never tried. One question for many: most are. */
  const untriedOf = async (destination: Target, alerts: readonly Alert[]): Promise<ReadonlySet<Alert>> => {
    const asked = [...Map.groupBy(alerts, keys.open)].flatMap(([key, own]) =>
      chunksOf(own, READ_AT_ONCE).map((some) => ({ key, some })),
    );
    const found = await mapInChunks(asked, READ_AT_ONCE, async ({ key, some }) => {
      const dates = await redis.zmscore(key, ...some.map(({ id }) => openMember(id, destination.id)));
      return some.filter((_, index) => dates[index] != null);
    });
    return new Set(found.flat());
  };

  return {
    /** Records deliveries as waiting; `by` names who asked for them, where that is not the routes. Known ones stay as they are. */
    recordWaiting: async (parcels: readonly Parcel[], by?: string): Promise<void> => {
      if (parcels.length === 0) return;
      const at = iso(now());
      const records = new Map(parcels.map(({ destination }) => [destination.id, waitingRecord(destination, at, by)]));
      await recordWaiting(redis, keys, parcels, records);
    },
    /** Those of a parcel's alerts that still have to be sent. */
    pending: async (destination: Destination, alerts: readonly Alert[]): Promise<Alert[]> => {
      const untried = await untriedOf(destination, alerts);
      const others = alerts.flatMap((alert) => (untried.has(alert) ? [] : alert.id));
      const texts = (await textsOf(destination, others)).values();
      return alerts.filter((alert) => {
        const text = untried.has(alert) ? UNTRIED : (texts.next().value ?? '');
        lastRead.set(alert, { destination: destination.id, text });
        return text === '' || !isFinal(stateOf(text));
      });
    },
    /** Those of these alerts' ids whose delivery there waits; not those that the ledger does not know. */
    waiting: async (destination: Destination, ids: readonly string[]): Promise<string[]> => {
      const texts = await textsOf(destination, ids);
      return ids.filter((_, index) => texts[index] && stateOf(texts[index]) === 'waiting');
    },
    /**
     * Records one attempt for every alert in it; an end that was reached stays, see `REPLACES`. Gives, in the order of
     * `alerts`, the state that each was found in; undefined where the ledger did not know it.
     */
    recordAttempt: async (
      destination: Target,
      alerts: readonly Alert[],
      result: AttemptEnd,
    ): Promise<(DeliveryState | undefined)[]> => {
      const next = (before: DeliveryRecord | undefined): DeliveryRecord => afterAttempt(before, destination, result);
      const found: (DeliveryState | undefined)[] = [];
      for (const some of chunksOf(alerts, RECORDED_AT_ONCE))
        found.push(...(await record.commit(some.map((alert) => ({ destination, alert, next })))));
      return found;
    },
  };
};

export const createLedger = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const keys = ledgerKeys(prefix);
  const transactions = createTransactions(redis, keys);
  return {
    ...createLedgerWrites(redis, keys, now),
    read: async (id: string): Promise<AlertRecord | undefined> => {
      const { [ALERT_FIELD]: alert, ...deliveries } = await redis.hgetall(keys.alert(id));
      if (alert === undefined) return undefined;
      return {
        alert: parseSummary(id, alert),
        deliveries: Object.entries(deliveries).map(([destination, text]) => parseRecord(destination, text)),
      };
    },
    /** What these alerts are about, in their order; undefined for one that it does not know. */
    summaries: async (ids: readonly Alert['id'][]) => {
      // Fresh alerts ask: mostly none is known, which one command tells of all.
      const found = await mapInChunks(chunksOf(ids, READ_AT_ONCE), 1, async (some) =>
        (await redis.exists(...some.map(keys.alert))) === 0
          ? some.map(() => null)
          : readField(redis, keys, ALERT_FIELD, some),
      );
      return found.flat().map((text, index) => (text === null ? undefined : parseSummary(ids[index] ?? '', text)));
    },
    /** How many deliveries wait, by destination id; a destination without any is left out. */
    waitingByDestination: async (): Promise<Record<string, number>> => {
      const counts = Object.entries(await redis.hgetall(keys.waiting));
      return Object.fromEntries(counts.map(([id, count]) => [id, Number(count)] as const).filter(([, n]) => n > 0));
    },
    /** The date of these tracks' oldest alert with a waiting delivery, in epoch milliseconds. */
    oldestOpen: async (
      ...tracks: readonly Pick<Alert, 'service' | 'source' | 'protocol'>[]
    ): Promise<number | undefined> => {
      const found: number[] = [];
      for (const chunk of chunksOf(tracks, READ_AT_ONCE)) {
        const at = await redis.eval(OLDEST, chunk.length, ...chunk.map(keys.open));
        if (at !== null) found.push(Number(at));
      }
      return found.length === 0 ? undefined : Math.min(...found);
    },
    /** Alert ids that name a transaction. */
    byTransaction: transactions.alertsOf,
    /** Ids of alerts whose transaction begins with these hex digits, of which the first eight count; at most so many. */
    byTransactionBeginning: transactions.beginningWith,
  };
};

export type Ledger = ReturnType<typeof createLedger>;
