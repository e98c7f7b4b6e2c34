/** The mutes there are, and what each hides: kept until its end is told. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination, Mute } from '../../alert.ts';
import { type DeliveryRecord, ledgerKeys, recordAlert, targetOf } from '../../ledger/record.ts';
import { execute } from '../../redis/pipeline.ts';
import { iso } from '../../time.ts';

/** A mute and what became of it. Times are ISO 8601. */
export interface StoredMute extends Mute {
  /** Ended by hand. */
  endedAt?: string;
  /** From then on it hides nothing more. */
  closedAt?: string;
  /** What it hid was told, or it hid nothing. */
  toldAt?: string;
  /** Alerts that it hid, at one destination or more. */
  hid: number;
}

/** As much of an alert as is told of it when its mute ends. */
export interface HiddenItem {
  protocol: string;
  type: string;
  /** Those that fired. */
  detectors: string[];
  itemId: string;
  txHash?: string;
  /** ISO 8601. */
  at: string;
}

export interface Hidden {
  /** Alerts in all. */
  hid: number;
  /** Where they were to go. */
  destinations: Destination[];
}

/** What a mute hid from one destination. */
export interface HiddenList {
  /** Alerts in all. */
  hid: number;
  /** The first `MOST_LISTED` of them, by the alert's id. */
  items: ReadonlyMap<string, HiddenItem>;
}

export interface MuteStore {
  /** All that are kept, those that ended lately among them. */
  list(): Promise<StoredMute[]>;
  /** One that is known stays as it is. True where it was not known. */
  add(mute: Mute): Promise<boolean>;
  /** Ends it at `at`, in epoch milliseconds. One that was ended before stays so. */
  end(id: string, at: number): Promise<void>;
  /**
   * Books an alert's deliveries as muted and notes them for the mute's end, both or nothing. Gives those that it hides
   * from now on, and those that it does not, as they are on their way or delivered already; undefined where the mute is
   * closed.
   */
  hide(
    mute: Mute,
    alert: Alert,
    item: HiddenItem,
    destinations: readonly Destination[],
  ): Promise<{ hid: Destination[]; others: Destination[] } | undefined>;
  /** From here on it hides nothing more, in no daemon. */
  close(id: string, at: number): Promise<void>;
  hidden(id: string): Promise<Hidden>;
  /**
   * Of what was noted before there were lists by destination, each destination has all. Undefined where another daemon
   * has told the mute's end meanwhile.
   */
  hiddenFrom(id: string, destination: Destination): Promise<HiddenList | undefined>;
  /** Notes that its end is told, and forgets what it hid. */
  told(id: string, at: number): Promise<void>;
  /** Forgets mutes. */
  forget(ids: readonly string[]): Promise<void>;
}

/** When it ends or ended, in epoch milliseconds. */
export const endOf = ({ until, endedAt = until, closedAt = until }: StoredMute): number =>
  Math.min(...[until, endedAt, closedAt].map((at) => Date.parse(at)));

/** So many a destination are listed when a mute ends; about 300 bytes each, less than the books keep of them. */
export const MOST_LISTED = 5000;

/**
 * KEYS: the mutes, the alert in the books, what the mute hides, and by destination the list of it; ARGV: the mute's id,
 * the alert's, the item, how many items a list keeps; then by destination its id, its record in the books, itself. False
 * where the mute is closed or unknown.
 */
const HIDE = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return false end
if redis.call('HEXISTS', KEYS[1], ARGV[1] .. ' closedAt') == 1 then return false end
local hid, others = {}, {}
for n = 1, #KEYS - 3 do
  local i = 2 + 3 * n
  if redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[i + 1]) == 1 then
    redis.call('HSET', KEYS[3], 'to ' .. ARGV[i], ARGV[i + 2])
    if redis.call('HINCRBY', KEYS[3], 'hid ' .. ARGV[i], 1) <= tonumber(ARGV[4]) then
      redis.call('HSET', KEYS[3 + n], ARGV[2], ARGV[3])
    end
    hid[#hid + 1] = ARGV[i]
  elseif cjson.decode(redis.call('HGET', KEYS[2], ARGV[i])).state ~= 'muted' then
    others[#others + 1] = ARGV[i]
  end
end
if #hid > 0 then
  redis.call('HINCRBY', KEYS[1], ARGV[1] .. ' hid', 1)
  redis.call('HINCRBY', KEYS[3], 'listed', 1)
end
return { hid, others }`;

const FACTS = ['endedAt', 'closedAt', 'toldAt', 'hid'] as const;

/** A mute stands under its id; what became of it under its id and a word. */
const toStored = (fields: Readonly<Record<string, string>>, id: string, json: string): StoredMute => {
  const facts = FACTS.flatMap((fact) => {
    const value = fields[`${id} ${fact}`];
    return value === undefined ? [] : [[fact, fact === 'hid' ? Number(value) : value]];
  });
  return { ...(JSON.parse(json) as Mute), hid: 0, ...Object.fromEntries(facts) };
};

/** By what follows in the field's name. */
const entriesOf = <T>(fields: Readonly<Record<string, string>>, beginning = ''): [string, T][] =>
  Object.entries(fields).flatMap(([field, json]) =>
    field.startsWith(beginning) ? [[field.slice(beginning.length), JSON.parse(json) as T]] : [],
  );

export const createMuteStore = (
  redis: Redis | Cluster,
  prefix: string,
  now: () => number,
  mostListed = MOST_LISTED,
): MuteStore => {
  const key = `${prefix}:mutes`;
  const hiddenKey = (id: string): string => `${prefix}:muted:${id}`;
  const listKey = (id: string, destination: string): string => `${hiddenKey(id)}:${destination}`;
  const books = ledgerKeys(prefix);

  const recordOf = (destination: Destination, { id, reason }: Mute): DeliveryRecord => {
    const at = iso(now());
    const acts = [{ at, act: 'muted' as const, by: id, reason }];
    return { state: 'muted', destination: targetOf(destination), at, attempts: [], acts };
  };

  return {
    list: async () => {
      const fields = await redis.hgetall(key);
      return Object.entries(fields).flatMap(([id, json]) => (id.includes(' ') ? [] : [toStored(fields, id, json)]));
    },
    add: async (mute) => (await redis.hsetnx(key, mute.id, JSON.stringify(mute))) === 1,
    end: async (id, at) => {
      await redis.hsetnx(key, `${id} endedAt`, iso(at));
    },
    hide: async (mute, alert, item, destinations) => {
      const batch = redis.pipeline();
      recordAlert(batch, books, alert);
      const written = destinations.flatMap((one) => [one.id, JSON.stringify(recordOf(one, mute)), JSON.stringify(one)]);
      const lists = destinations.map((one) => listKey(mute.id, one.id));
      const keys = [key, books.alert(alert.id), hiddenKey(mute.id), ...lists];
      batch.eval(HIDE, keys.length, ...keys, mute.id, alert.id, JSON.stringify(item), mostListed, ...written);
      const [hid, others] = ((await execute(batch)).at(-1) as [string[], string[]] | null) ?? [];
      if (hid === undefined || others === undefined) return undefined;
      const named = (ids: readonly string[]): Destination[] => destinations.filter(({ id }) => ids.includes(id));
      return { hid: named(hid), others: named(others) };
    },
    close: async (id, at) => {
      await redis.hsetnx(key, `${id} closedAt`, iso(at));
    },
    hidden: async (id) => {
      const [hid, fields] = await Promise.all([redis.hget(key, `${id} hid`), redis.hgetall(hiddenKey(id))]);
      return { hid: Number(hid ?? 0), destinations: entriesOf<Destination>(fields, 'to ').map(([, one]) => one) };
    },
    hiddenFrom: async (id, destination) => {
      const batch = redis.multi().hget(key, `${id} hid`).hgetall(hiddenKey(id)).hgetall(listKey(id, destination.id));
      type Answers = [string | null, Record<string, string>, Record<string, string>];
      const [hid, fields, list] = (await execute(batch)) as Answers;
      if (fields[`to ${destination.id}`] === undefined) return undefined;
      // Once there was one list for all, under `item ALERT`; what was noted since is counted.
      const before = Number(hid ?? 0) - Number(fields.listed ?? 0);
      const items = [...entriesOf<HiddenItem>(fields, 'item '), ...entriesOf<HiddenItem>(list)];
      return { hid: before + Number(fields[`hid ${destination.id}`] ?? 0), items: new Map(items) };
    },
    told: async (id, at) => {
      const ids = entriesOf<Destination>(await redis.hgetall(hiddenKey(id)), 'to ').map(([destination]) => destination);
      const lists = ids.map((destination) => listKey(id, destination));
      await execute(
        redis
          .pipeline()
          .hsetnx(key, `${id} toldAt`, iso(at))
          .unlink(...lists, hiddenKey(id)),
      );
    },
    forget: async (ids) => {
      const fields = ids.flatMap((id) => [id, ...FACTS.map((fact) => `${id} ${fact}`)]);
      if (fields.length > 0) await redis.hdel(key, ...fields);
    },
  };
};
