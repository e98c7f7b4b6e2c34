/** The ledger's alerts by date: for audits, for lists, and to keep the ledger bounded. No delivery asks it. */
import type { ChainableCommander, Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import { execute } from '../redis/pipeline.ts';
import { IS_STATE, parseRecord, parseSummary, stateOf } from './encoding.ts';
import {
  ALERT_FIELD,
  type AlertRecord,
  type DeliveryRecord,
  type DeliveryState,
  isFinal,
  ledgerKeys,
  OPEN_FIELD,
  RETENTION_SECONDS,
} from './record.ts';
import { createTransactions, indexTransaction, transactionMember } from './transactions.ts';
import { CLOSE_ALERT } from './writes.ts';

// The ledger's alerts by date: for audits, and to keep the ledger bounded. No delivery asks it.

export interface AlertIndex {
  /** Ids of the alerts dated after `from` and up to `to`, both in epoch milliseconds; oldest first. */
  between(from: number, to: number): Promise<string[]>;
  /** Ids of the alerts with the latest dates, at most so many; newest first. */
  newest(most: number): Promise<string[]>;
  /** Destinations of alerts' deliveries, by id, in the order of `alerts`. */
  destinations(alerts: readonly Alert['id'][]): Promise<Destination['id'][][]>;
  /**
   * Ids of a track's alerts with a waiting delivery, oldest first. What an older version let expire is open no more, and
   * what it would let expire stays.
   */
  open(track: Pick<Alert, 'service' | 'source' | 'protocol'>): Promise<string[]>;
  /**
   * Removes what is older than the ledger keeps, and the oldest alerts where there are too many; those with a waiting
   * delivery stay. Gives how many it removed because there were too many.
   */
  trim(): Promise<number>;
  /** The latest date of an alert that was removed so, in epoch milliseconds: the ledger knows nothing certain before it. */
  trimmedTo(): Promise<number | undefined>;
}

/** About 2 kB each. Fewer than 35 days are kept only where more alerts come in that time. */
const MOST_ALERTS = 200_000;
const CHUNK = 500;

/** KEYS: where the date is kept; ARGV: the date. It only grows: an alert with an old date may come late. */
const RAISE = `
local old = redis.call('GET', KEYS[1])
if not old or tonumber(ARGV[1]) > tonumber(old) then redis.call('SET', KEYS[1], ARGV[1]) end
return 1`;

/** KEYS: the track's open alerts, then some of them; ARGV: their ids. Gives those that the ledger has not forgotten. */
const KEEP_OPEN = `
local kept = {}
for i, id in ipairs(ARGV) do
  local ttl = redis.call('TTL', KEYS[i + 1])
  if ttl >= 0 and redis.call('ZSCORE', KEYS[1], id) then redis.call('PERSIST', KEYS[i + 1]) end
  if ttl == -2 then redis.call('ZREM', KEYS[1], id) else kept[#kept + 1] = id end
end
return kept`;

/**
 * KEYS: an old alert, the index, the transactions; ARGV: its id, its member of the transactions or ''. Gives whether it is
 * open; if it is not, it leaves the index and the transactions, and is removed unless it is to expire later.
 */
const AGE = `${CLOSE_ALERT}
if isOpen(KEYS[1]) then return 1 end
if redis.call('TTL', KEYS[1]) == -1 then redis.call('DEL', KEYS[1]) end
redis.call('ZREM', KEYS[2], ARGV[1])
if ARGV[2] ~= '' then redis.call('ZREM', KEYS[3], ARGV[2]) end
return 0`;

/** An alert of which no delivery waits; it has no `about` where it has expired. */
interface Closed {
  id: Alert['id'];
  about: string | undefined;
}

export const createAlertIndex = (
  redis: Redis | Cluster,
  prefix: string,
  now: () => number,
  mostAlerts = MOST_ALERTS,
): AlertIndex => {
  const keys = ledgerKeys(prefix);
  const transactions = createTransactions(redis, keys);

  /** Those of `ids` without a waiting delivery, with what they are about. */
  const closed = async (ids: readonly string[]): Promise<Closed[]> => {
    const batch = redis.pipeline();
    for (const id of ids) batch.hgetall(keys.alert(id));
    const all = (await execute(batch)) as Record<string, string>[];
    return ids.flatMap((id, index) => {
      const { [ALERT_FIELD]: about, [OPEN_FIELD]: _open, ...deliveries } = all[index] ?? {};
      const isOpen = Object.values(deliveries).some((text) => !isFinal(stateOf(text)));
      return isOpen ? [] : [{ id, about }];
    });
  };

  const forgetTransaction = (batch: ChainableCommander, { id, about }: Closed): void => {
    const member = about === undefined ? undefined : transactionMember(parseSummary(id, about));
    if (member !== undefined) batch.zrem(keys.transactions, member);
  };

  /** `gone`: oldest first. The date first, so that after a crash nothing is taken for missing. */
  const remove = async (gone: readonly Closed[]): Promise<void> => {
    const last = gone.at(-1);
    if (last === undefined) return;
    const date = await redis.zscore(keys.index, last.id);
    const batch = redis.pipeline();
    if (date !== null) batch.eval(RAISE, 1, keys.trimmedTo, date);
    for (const one of gone) {
      forgetTransaction(batch, one);
      batch.del(keys.alert(one.id)).zrem(keys.index, one.id);
    }
    await execute(batch);
  };

  const read = async (ids: readonly string[]): Promise<(AlertRecord['alert'] | undefined)[]> => {
    const batch = redis.pipeline();
    for (const id of ids) batch.hget(keys.alert(id), ALERT_FIELD);
    const abouts = (await execute(batch)) as (string | null)[];
    return ids.map((id, index) => {
      const about = abouts[index] ?? null;
      return about === null ? undefined : parseSummary(id, about);
    });
  };

  /** Gives how many of them stay, because they are open, and how many were gone already. */
  const ageSome = async (ids: readonly string[]): Promise<{ open: number; gone: number }> => {
    const alerts = await read(ids);
    const batch = redis.pipeline();
    for (const [index, id] of ids.entries()) {
      const alert = alerts[index];
      const member = alert === undefined ? undefined : transactionMember(alert);
      batch.eval(AGE, 3, keys.alert(id), keys.index, keys.transactions, id, member ?? '');
    }
    const isOpen = ((await execute(batch)) as number[]).map((answer) => answer === 1);
    const found = redis.pipeline();
    for (const alert of alerts.filter((_, index) => isOpen[index])) {
      if (alert) indexTransaction(found, keys, alert);
    }
    await execute(found);
    return { open: isOpen.filter(Boolean).length, gone: alerts.filter((alert) => alert === undefined).length };
  };

  /** Open alerts stay in the index, and are found by their transaction. */
  const age = async (): Promise<void> => {
    const oldest = `(${now() - RETENTION_SECONDS * 1000}`;
    let gone = 0;
    for (let skipped = 0; ; ) {
      const ids = await redis.zrangebyscore(keys.index, '-inf', oldest, 'LIMIT', skipped, CHUNK);
      if (ids.length === 0) break;
      const found = await ageSome(ids);
      skipped += found.open;
      gone += found.gone;
    }
    if (gone > 0) await transactions.dropGone();
  };

  const removeExcess = async (): Promise<number> => {
    let excess = (await redis.zcard(keys.index)) - mostAlerts;
    let removed = 0;
    for (let skipped = 0; excess > 0; ) {
      const oldest = await redis.zrange(keys.index, String(skipped), String(skipped + Math.min(CHUNK, excess) - 1));
      if (oldest.length === 0) break;
      const gone = await closed(oldest);
      await remove(gone);
      removed += gone.length;
      skipped += oldest.length - gone.length;
      excess -= oldest.length;
    }
    return removed;
  };

  return {
    between: (from, to) => redis.zrangebyscore(keys.index, `(${from}`, to),
    newest: (most) => redis.zrevrange(keys.index, 0, most - 1),
    destinations: async (alerts) => {
      const batch = redis.pipeline();
      for (const id of alerts) batch.hkeys(keys.alert(id));
      const fields = (await execute(batch)) as string[][];
      return fields.map((all) => all.filter((field) => field !== ALERT_FIELD && field !== OPEN_FIELD));
    },
    open: async (track) => {
      const key = keys.open(track);
      const open: string[] = [];
      for (const ids of chunksOf(await redis.zrange(key, '0', '-1'), CHUNK)) {
        const own = [key, ...ids.map(keys.alert)];
        open.push(...((await redis.eval(KEEP_OPEN, own.length, ...own, ...ids)) as string[]));
      }
      return open;
    },
    trim: async () => {
      await age();
      return removeExcess();
    },
    trimmedTo: async () => {
      const date = await redis.get(keys.trimmedTo);
      return date === null ? undefined : Number(date);
    },
  };
};

// Alerts in short, for lists: how many of an alert's deliveries ended how, and a few of them; there may be thousands.

export interface AlertOutline {
  alert: AlertRecord['alert'];
  counts: Record<DeliveryState, number>;
  /** Some of them, those in trouble first. */
  deliveries: DeliveryRecord[];
}

/** In this order the deliveries of an alert are shown. */
const STATES: readonly DeliveryState[] = ['dead', 'waiting', 'delivered', 'muted'];

/** KEYS: an alert; ARGV: how many deliveries, and their states. Gives what the alert is about, counts, some deliveries. */
const OUTLINE = `${IS_STATE}
local fields, about, counts, some = redis.call('HGETALL', KEYS[1]), '', {}, {}
for s = 2, #ARGV do counts[s - 1] = 0; some[s - 1] = {} end
for f = 1, #fields, 2 do
  if fields[f] == '${ALERT_FIELD}' then about = fields[f + 1]
  elseif fields[f] ~= '${OPEN_FIELD}' then
    for s = 2, #ARGV do
      if isState(fields[f + 1], ARGV[s]) then
        local list = some[s - 1]
        counts[s - 1] = counts[s - 1] + 1
        if #list < 2 * ARGV[1] then list[#list + 1] = fields[f]; list[#list + 1] = fields[f + 1] end
      end
    end
  end
end
local shown = {}
for s = 1, #some do
  for i = 1, #some[s] do if #shown < 2 * ARGV[1] then shown[#shown + 1] = some[s][i] end end
end
return { about, counts, shown }`;

type Answer = [about: string, counts: number[], shown: string[]];

const outlineOf = (id: string, [about, counts, shown]: Answer): AlertOutline[] => {
  // Gone since it was found.
  if (about === '') return [];
  const deliveries: DeliveryRecord[] = [];
  for (let at = 0; at + 1 < shown.length; at += 2) deliveries.push(parseRecord(shown[at] ?? '', shown[at + 1] ?? ''));
  const byState = STATES.map((state, index) => [state, counts[index] ?? 0] as const);
  return [
    { alert: parseSummary(id, about), counts: Object.fromEntries(byState) as AlertOutline['counts'], deliveries },
  ];
};

export const createOutlines = (redis: Redis | Cluster, prefix: string) => {
  const keys = ledgerKeys(prefix);
  return {
    /** The latest alerts by date, newest first; at most `deliveries` of each. */
    latest: async (alerts: number, deliveries: number): Promise<AlertOutline[]> => {
      const ids: Alert['id'][] = await redis.zrevrange(keys.index, 0, alerts - 1);
      const batch = redis.pipeline();
      for (const id of ids) batch.eval(OUTLINE, 1, keys.alert(id), deliveries, ...STATES);
      const answers = (await execute(batch)) as Answer[];
      return ids.flatMap((id, index) => outlineOf(id, answers[index] ?? ['', [], []]));
    },
    /** How many alerts are dated in each of these spans, in epoch milliseconds; the end is excluded. */
    counts: async (spans: readonly { from: number; to: number }[]): Promise<number[]> => {
      const batch = redis.pipeline();
      for (const { from, to } of spans) batch.zcount(keys.index, from, `(${to}`);
      return (await execute(batch)) as number[];
    },
  };
};

export type Outlines = ReturnType<typeof createOutlines>;
