/** The ledger's alerts by date: for audits, for lists, and to keep the ledger bounded. No delivery asks it. */
import type { ChainableCommander, Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import { askEach } from '../redis/pipeline.ts';
import { IS_STATE, parseRecord, parseSummary } from './encoding.ts';
import {
  ALERT_FIELD,
  type AlertRecord,
  alertOfOpen,
  type DeliveryRecord,
  type DeliveryState,
  ledgerKeys,
  RETENTION_SECONDS,
} from './record.ts';
import { createTransactions, transactionMember } from './transactions.ts';
import { CLOSE_ALERT } from './writes.ts';

/** About 1.2 kB each. Fewer than 35 days are kept only where more alerts come in that time. */
export const MOST_ALERTS = 200_000;
const CHUNK = 500;

/**
 * KEYS: an alert, the index, the transactions, the date of what was removed; ARGV: its id, its member of the transactions or
 * '', its date if it has to go because there are too many, else ''. Gives whether it is open; if it is not, it leaves the
 * index and the transactions, and is removed, unless it is only old and is to expire later. The date that is kept only
 * grows: an alert with an old date may come late.
 */
const REMOVE = `${CLOSE_ALERT}
if isOpen(KEYS[1]) then return 1 end
if ARGV[3] ~= '' then
  local old = redis.call('GET', KEYS[4])
  if not old or tonumber(ARGV[3]) > tonumber(old) then redis.call('SET', KEYS[4], ARGV[3]) end
end
if ARGV[3] ~= '' or redis.call('TTL', KEYS[1]) == -1 then redis.call('DEL', KEYS[1]) end
redis.call('ZREM', KEYS[2], ARGV[1])
if ARGV[2] ~= '' then redis.call('ZREM', KEYS[3], ARGV[2]) end
return 0`;

/** An alert of the index; with its date if it goes because there are too many. */
type Indexed = readonly [id: Alert['id'], date?: string];

export const createAlertIndex = (
  redis: Redis | Cluster,
  prefix: string,
  now: () => number,
  mostAlerts = MOST_ALERTS,
) => {
  const keys = ledgerKeys(prefix);
  const transactions = createTransactions(redis, keys);

  const read = async (ids: readonly string[]): Promise<(AlertRecord['alert'] | undefined)[]> => {
    const found = await askEach(redis, ids, (batch, id) => batch.hget(keys.alert(id), ALERT_FIELD));
    return ids.map((id, index) => (typeof found[index] === 'string' ? parseSummary(id, found[index]) : undefined));
  };

  /** Gives how many of them stay, because they are open, and how many were gone already. */
  const remove = async (all: readonly Indexed[]): Promise<{ open: number; gone: number }> => {
    const alerts = await read(all.map(([id]) => id));
    const answers = await askEach(redis, all.entries(), (batch, [index, [id, date = '']]) => {
      const alert = alerts[index];
      const own = [keys.alert(id), keys.index, keys.transactions, keys.trimmedTo];
      batch.eval(REMOVE, own.length, ...own, id, (alert && transactionMember(alert)) ?? '', date);
    });
    const open = answers.filter((answer) => answer === 1).length;
    return { open, gone: alerts.filter((alert) => alert === undefined).length };
  };

  /** Open alerts stay in the index. */
  const removeOld = async (): Promise<void> => {
    const oldest = `(${now() - RETENTION_SECONDS * 1000}`;
    let gone = 0;
    for (let skipped = 0; ; ) {
      const ids = await redis.zrangebyscore(keys.index, '-inf', oldest, 'LIMIT', skipped, CHUNK);
      if (ids.length === 0) break;
      const found = await remove(ids.map((id) => [id]));
      skipped += found.open;
      gone += found.gone;
    }
    if (gone > 0) await transactions.dropGone();
  };

  const removeExcess = async (): Promise<number> => {
    let excess = (await redis.zcard(keys.index)) - mostAlerts;
    let removed = 0;
    for (let skipped = 0; excess > 0; ) {
      const last = skipped + Math.min(CHUNK, excess) - 1;
      const oldest = chunksOf(await redis.zrange(keys.index, String(skipped), String(last), 'WITHSCORES'), 2) as [
        string,
        string,
      ][];
      if (oldest.length === 0) break;
      const { open } = await remove(oldest);
      removed += oldest.length - open;
      skipped += open;
      excess -= oldest.length;
    }
    return removed;
  };

  return {
    /** Ids of the alerts dated after `from` and up to `to`, both in epoch milliseconds; oldest first. */
    between: (from: number, to: number): Promise<string[]> => redis.zrangebyscore(keys.index, `(${from}`, to),
    /** Ids of the alerts with the latest dates, at most so many; newest first. */
    newest: (most: number): Promise<string[]> => redis.zrevrange(keys.index, 0, most - 1),
    /** Destinations of alerts' deliveries, by id, in the order of `alerts`. */
    destinations: async (alerts: readonly Alert['id'][]): Promise<Destination['id'][][]> => {
      const fields = await askEach(redis, alerts, (batch, id) => batch.hkeys(keys.alert(id)));
      return (fields as string[][]).map((all) => all.filter((field) => field !== ALERT_FIELD));
    },
    /** Ids of a track's alerts with a waiting delivery, oldest first. */
    open: async (track: Pick<Alert, 'service' | 'source' | 'protocol'>): Promise<string[]> => {
      const members = await redis.zrange(keys.open(track), '0', '-1');
      return [...new Set(members.map(alertOfOpen))];
    },
    /**
     * Removes what is older than the ledger keeps, and the oldest alerts where there are too many; those with a waiting
     * delivery stay. Gives how many it removed because there were too many.
     */
    trim: async (): Promise<number> => {
      await removeOld();
      return removeExcess();
    },
    /** The latest date of an alert that was removed so, in epoch milliseconds: the ledger knows nothing certain before it. */
    trimmedTo: async (): Promise<number | undefined> => {
      const date = await redis.get(keys.trimmedTo);
      return date === null ? undefined : Number(date);
    },
  };
};

export type AlertIndex = ReturnType<typeof createAlertIndex>;

/** An alert in short, for lists: how many of its deliveries ended how, and a few of them; there may be thousands. */
export interface AlertOutline {
  alert: AlertRecord['alert'];
  counts: Record<DeliveryState, number>;
  /** Some of them, those in trouble first. */
  deliveries: DeliveryRecord[];
  /** Other alerts say the same at each of its destinations. */
  isCovered: boolean;
}

/** In this order the deliveries of an alert are shown. */
const STATES: readonly DeliveryState[] = ['dead', 'waiting', 'delivered', 'muted'];

/** KEYS: an alert; ARGV: how many deliveries, and their states. Gives what the alert is about, counts, some deliveries. */
const OUTLINE = `${IS_STATE}
local fields, about, counts, some = redis.call('HGETALL', KEYS[1]), '', {}, {}
for s = 2, #ARGV do counts[s - 1] = 0; some[s - 1] = {} end
for f = 1, #fields, 2 do
  if fields[f] == '${ALERT_FIELD}' then about = fields[f + 1] else
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

/** Of the latest alerts, to find those that no other one covers. */
const MOST_LOOKED_AT = 5000;
/** Alerts of one transaction that are looked at for this. */
const MOST_OF_ONE = 20;

type Answer = [about: string, counts: number[], shown: string[]];

const outlineOf = (id: string, [about, counts, shown]: Answer, isCovered: boolean): AlertOutline[] => {
  // Gone since it was found.
  if (about === '') return [];
  const deliveries: DeliveryRecord[] = [];
  for (let at = 0; at + 1 < shown.length; at += 2) deliveries.push(parseRecord(shown[at] ?? '', shown[at + 1] ?? ''));
  const byState = STATES.map((state, index) => [state, counts[index] ?? 0] as const);
  const byStates = Object.fromEntries(byState) as AlertOutline['counts'];
  // One that was sent again since is a row of its own.
  const isStill = isCovered && deliveries.every((one) => one.with !== undefined);
  return [{ alert: parseSummary(id, about), counts: byStates, deliveries, isCovered: isStill }];
};

export const createOutlines = (redis: Redis | Cluster, prefix: string) => {
  const keys = ledgerKeys(prefix);
  const transactions = createTransactions(redis, keys);

  /** Whether it is covered, by id. In a storm hundreds may be, and take no place of the others. */
  const newest = async (most: number, since = '-inf'): Promise<Map<Alert['id'], boolean>> => {
    const found = new Map<Alert['id'], boolean>();
    const left = { own: most, covered: most };
    const take = (id: Alert['id'], isCovered: boolean): void => {
      const kind = isCovered ? 'covered' : 'own';
      if (left[kind] > 0) found.set(id, isCovered);
      left[kind] -= 1;
    };
    for (let from = 0; from < MOST_LOOKED_AT && left.own > 0; from += CHUNK) {
      const ids = await redis.zrange(keys.index, '+inf', since, 'BYSCORE', 'REV', 'LIMIT', from, CHUNK);
      const covered = ids.length === 0 ? [] : await redis.zmscore(keys.covered, ...ids);
      for (const [index, id] of ids.entries()) take(id, covered[index] != null);
      if (ids.length < CHUNK) break;
    }
    return found;
  };

  /** Alerts of these transactions that others cover. */
  const coveredOf = async (hashes: Iterable<string>): Promise<Map<Alert['id'], boolean>> => {
    const found = await Promise.all([...hashes].map(transactions.alertsOf));
    const ids = found.flatMap((some) => some.slice(0, MOST_OF_ONE));
    const covered = ids.length === 0 ? [] : await redis.zmscore(keys.covered, ...ids);
    return new Map(ids.filter((_, index) => covered[index] != null).map((id) => [id, true]));
  };

  const read = async (ids: ReadonlyMap<Alert['id'], boolean>, deliveries: number): Promise<AlertOutline[]> => {
    const ask = (batch: ChainableCommander, id: string) =>
      batch.eval(OUTLINE, 1, keys.alert(id), deliveries, ...STATES);
    const answers = (await askEach(redis, ids.keys(), ask)) as Answer[];
    return [...ids].flatMap(([id, isCovered], index) => outlineOf(id, answers[index] ?? ['', [], []], isCovered));
  };

  /** The latest alerts by date that no others cover, newest first; at most `deliveries` of each. `since`: epoch milliseconds. */
  const own = async (alerts: number, deliveries: number, since?: number): Promise<AlertOutline[]> =>
    (await read(await newest(alerts, since?.toString()), deliveries)).filter(({ isCovered }) => !isCovered);

  return {
    own,
    /** The same of any time, then what they cover. */
    latest: async (alerts: number, deliveries: number): Promise<AlertOutline[]> => {
      const found = await own(alerts, deliveries);
      const covered = await read(
        await coveredOf(new Set(found.flatMap(({ alert }) => alert.txHash ?? []))),
        deliveries,
      );
      return [...found, ...covered.filter(({ isCovered }) => isCovered)];
    },
    /** How many alerts are dated in each of these spans, in epoch milliseconds, without those that others cover; the end is excluded. */
    counts: async (spans: readonly { from: number; to: number }[]): Promise<number[]> => {
      const countIn = async (key: string): Promise<number[]> =>
        (await askEach(redis, spans, (batch, { from, to }) => batch.zcount(key, from, `(${to}`))) as number[];
      const [all, covered] = await Promise.all([countIn(keys.index), countIn(keys.covered)]);
      return all.map((count, index) => Math.max(0, count - (covered[index] ?? 0)));
    },
  };
};

export type Outlines = ReturnType<typeof createOutlines>;
