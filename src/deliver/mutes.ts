/** The mutes there are, and what each hides: kept until its end is told. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination, Mute } from '../alert.ts';
import { type DeliveryRecord, execute, ledgerKeys, noteAlert, targetOf } from './record.ts';

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
  /** The first of them, oldest first. */
  items: HiddenItem[];
  /** Where they were to go. */
  destinations: Destination[];
}

export interface Mutes {
  /** All that are kept, those that ended lately among them. */
  list(): Promise<StoredMute[]>;
  /** One that is known stays as it is. */
  add(mute: Mute): Promise<void>;
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
  /** Notes that its end is told, and forgets what it hid. */
  told(id: string, at: number): Promise<void>;
  /** Forgets mutes. */
  forget(ids: readonly string[]): Promise<void>;
}

/** When it ends or ended, in epoch milliseconds. */
export const endOf = ({ until, endedAt = until, closedAt = until }: StoredMute): number =>
  Math.min(...[until, endedAt, closedAt].map((at) => Date.parse(at)));

/** So many are listed when a mute ends; about 300 bytes each. */
const MOST_LISTED = 1000;

/**
 * KEYS: the mutes, the alert in the books, what is hidden; ARGV: the mute's id, the alert's, the item, how many items
 * are kept; then by destination its id, its record in the books, itself. False where the mute is closed or unknown.
 */
const HIDE = `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return false end
if redis.call('HEXISTS', KEYS[1], ARGV[1] .. ' closedAt') == 1 then return false end
local hid, others = {}, {}
for i = 5, #ARGV, 3 do
  if redis.call('HSETNX', KEYS[2], ARGV[i], ARGV[i + 1]) == 1 then
    redis.call('HSET', KEYS[3], 'to ' .. ARGV[i], ARGV[i + 2])
    hid[#hid + 1] = ARGV[i]
  elseif cjson.decode(redis.call('HGET', KEYS[2], ARGV[i])).state ~= 'muted' then
    others[#others + 1] = ARGV[i]
  end
end
if #hid > 0 and redis.call('HINCRBY', KEYS[1], ARGV[1] .. ' hid', 1) <= tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[3], 'item ' .. ARGV[2], ARGV[3])
end
return { hid, others }`;

const FACTS = ['endedAt', 'closedAt', 'toldAt', 'hid'] as const;

const iso = (at: number): string => new Date(at).toISOString();

/** A mute stands under its id; what became of it under its id and a word. */
const toStored = (fields: Readonly<Record<string, string>>, id: string, json: string): StoredMute => {
  const facts = FACTS.flatMap((fact) => {
    const value = fields[`${id} ${fact}`];
    return value === undefined ? [] : [[fact, fact === 'hid' ? Number(value) : value]];
  });
  return { ...(JSON.parse(json) as Mute), hid: 0, ...Object.fromEntries(facts) };
};

const valuesOf = <T>(fields: Readonly<Record<string, string>>, beginning: string): T[] =>
  Object.entries(fields).flatMap(([field, json]) => (field.startsWith(beginning) ? [JSON.parse(json) as T] : []));

export const createMutes = (
  redis: Redis | Cluster,
  prefix: string,
  now: () => number,
  mostListed = MOST_LISTED,
): Mutes => {
  const key = `${prefix}:mutes`;
  const hiddenKey = (id: string): string => `${prefix}:muted:${id}`;
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
    add: async (mute) => {
      await redis.hsetnx(key, mute.id, JSON.stringify(mute));
    },
    end: async (id, at) => {
      await redis.hsetnx(key, `${id} endedAt`, iso(at));
    },
    hide: async (mute, alert, item, destinations) => {
      const batch = redis.pipeline();
      noteAlert(batch, books, alert);
      const written = destinations.flatMap((one) => [one.id, JSON.stringify(recordOf(one, mute)), JSON.stringify(one)]);
      const [alertKey, hiddenIn] = [books.alert(alert.id), hiddenKey(mute.id)];
      batch.eval(HIDE, 3, key, alertKey, hiddenIn, mute.id, alert.id, JSON.stringify(item), mostListed, ...written);
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
      const items = valuesOf<HiddenItem>(fields, 'item ').sort((a, b) => a.at.localeCompare(b.at));
      return { hid: Number(hid ?? 0), items, destinations: valuesOf<Destination>(fields, 'to ') };
    },
    told: async (id, at) => {
      await execute(redis.pipeline().hsetnx(key, `${id} toldAt`, iso(at)).del(hiddenKey(id)));
    },
    forget: async (ids) => {
      const fields = ids.flatMap((id) => [id, ...FACTS.map((fact) => `${id} ${fact}`)]);
      if (fields.length > 0) await redis.hdel(key, ...fields);
    },
  };
};
