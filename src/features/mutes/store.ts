/** Mutes in Redis, and what they hide. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination, Mute } from '../../alert.ts';
import { encodeRecord } from '../../ledger/encoding.ts';
import { type DeliveryRecord, ledgerKeys, targetOf } from '../../ledger/record.ts';
import { CLOSE_ALERT, recordAlert } from '../../ledger/writes.ts';
import { execute, recordsIn } from '../../redis/pipeline.ts';
import { iso } from '../../time.ts';
import type { Listed } from '../announcements/announce.ts';

/** As much of an alert as the report of a mute lists. */
export interface HiddenItem extends Omit<Listed, 'what'> {
  type: string;
  /** Those that fired. */
  detectors: string[];
  itemId: string;
}

/** Alerts that a report lists for each destination; about 400 bytes each, less than the ledger keeps of them. */
export const MOST_LISTED = 5000;

/**
 * KEYS: the mutes, the alert in the ledger, what the mute hides, and by destination the list of it; ARGV: the mute's id,
 * the alert's, the item, how many items a list keeps; then by destination its id, its record in the ledger, itself. False
 * where the mute is closed or unknown.
 */
const HIDE = `${CLOSE_ALERT}
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
  elseif not isState(redis.call('HGET', KEYS[2], ARGV[i]), 'muted') then
    others[#others + 1] = ARGV[i]
  end
end
if #hid > 0 then
  redis.call('HINCRBY', KEYS[1], ARGV[1] .. ' hid', 1)
  closeAlert(KEYS[2])
end
return { hid, others }`;

/** A mute is kept under its id, its facts under its id and a word. */
const muteKeys = (prefix: string) => {
  const hidden = (id: string): string => `${prefix}:muted:${id}`;
  return {
    mutes: `${prefix}:mutes`,
    hidden,
    list: (id: string, destination: string): string => `${hidden(id)}:${destination}`,
  };
};

const createHiddenStore = (redis: Redis | Cluster, prefix: string, now: () => number, mostListed: number) => {
  const keys = muteKeys(prefix);
  const ledger = ledgerKeys(prefix);

  const recordOf = (destination: Destination, { id, reason }: Mute): DeliveryRecord => {
    const at = iso(now());
    const acts = [{ at, act: 'muted' as const, by: id, reason }];
    return { state: 'muted', destination: targetOf(destination), at, attempts: [], acts };
  };

  return {
    /**
     * Records an alert's deliveries as muted and lists them for the mute's report, both or nothing. Gives the destinations
     * that it hides the alert from now, and those where the alert is on its way or delivered already; undefined where the
     * mute is closed.
     */
    hide: async (mute: Mute, alert: Alert, item: HiddenItem, destinations: readonly Destination[]) => {
      const batch = redis.pipeline();
      recordAlert(batch, ledger, alert);
      const written = destinations.flatMap((one) => [one.id, encodeRecord(recordOf(one, mute)), JSON.stringify(one)]);
      const lists = destinations.map((one) => keys.list(mute.id, one.id));
      const all = [keys.mutes, ledger.alert(alert.id), keys.hidden(mute.id), ...lists];
      batch.eval(HIDE, all.length, ...all, mute.id, alert.id, JSON.stringify(item), mostListed, ...written);
      const [hid, others] = ((await execute(batch)).at(-1) as [string[], string[]] | null) ?? [];
      if (hid === undefined || others === undefined) return undefined;
      const named = (ids: readonly string[]): Destination[] => destinations.filter(({ id }) => ids.includes(id));
      return { hid: named(hid), others: named(others) };
    },
    /** How many alerts it hid in all, and where they were to go. */
    hidden: async (id: string): Promise<{ hid: number; destinations: Destination[] }> => {
      const [hid, fields] = await Promise.all([redis.hget(keys.mutes, `${id} hid`), redis.hgetall(keys.hidden(id))]);
      return { hid: Number(hid ?? 0), destinations: [...recordsIn<Destination>(fields, 'to ').values()] };
    },
    /** How many alerts, and the first of them by their ids. Undefined where another daemon has reported the mute meanwhile. */
    hiddenFrom: async (id: string, destination: Destination) => {
      const batch = redis.multi().hgetall(keys.hidden(id)).hgetall(keys.list(id, destination.id));
      const [fields, listed] = (await execute(batch)) as [Record<string, string>, Record<string, string>];
      if (fields[`to ${destination.id}`] === undefined) return undefined;
      return { hid: Number(fields[`hid ${destination.id}`] ?? 0), items: recordsIn<HiddenItem>(listed) };
    },
    /** Notes that the report was sent, and forgets what the mute hid. */
    reported: async (id: string, at: number): Promise<void> => {
      const hidden = keys.hidden(id);
      const destinations = recordsIn<Destination>(await redis.hgetall(hidden), 'to ').keys();
      const lists = [...destinations].map((one) => keys.list(id, one));
      const batch = redis.pipeline().hsetnx(keys.mutes, `${id} reportedAt`, iso(at));
      await execute(batch.unlink(...lists, hidden));
    },
  };
};

/** A mute and what became of it. Times are ISO 8601. */
export interface StoredMute extends Mute {
  /** Ended by hand. */
  endedAt?: string;
  /** From then on it hides nothing more. */
  closedAt?: string;
  /** The list of what it hid was sent, or it hid nothing. */
  reportedAt?: string;
  /** Alerts that it hid, at one destination or more. */
  hid: number;
}

export type MuteStore = ReturnType<typeof createMuteStore>;

/** When it ends or ended, in epoch milliseconds. */
export const endOf = ({ until, endedAt = until, closedAt = until }: StoredMute): number =>
  Math.min(...[until, endedAt, closedAt].map((at) => Date.parse(at)));

/** KEYS: the mutes; ARGV: the mute's id, its new text, and the old. */
const EXTEND = `
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[3] then return 0 end
if redis.call('HEXISTS', KEYS[1], ARGV[1] .. ' endedAt') == 1 then return 0 end
if redis.call('HEXISTS', KEYS[1], ARGV[1] .. ' closedAt') == 1 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1`;

const FACTS = ['endedAt', 'closedAt', 'reportedAt', 'hid'] as const;

const toStored = (fields: Readonly<Record<string, string>>, id: string, json: string): StoredMute => {
  const facts = FACTS.flatMap((fact) => {
    const value = fields[`${id} ${fact}`];
    return value === undefined ? [] : [[fact, fact === 'hid' ? Number(value) : value]];
  });
  return { ...(JSON.parse(json) as Mute), hid: 0, ...Object.fromEntries(facts) };
};

export const createMuteStore = (
  redis: Redis | Cluster,
  prefix: string,
  now: () => number,
  mostListed = MOST_LISTED,
) => {
  const keys = muteKeys(prefix);
  const setOnce = async (field: string, value: string): Promise<boolean> =>
    (await redis.hsetnx(keys.mutes, field, value)) === 1;

  return {
    ...createHiddenStore(redis, prefix, now, mostListed),
    /** All that are kept, with those that ended lately. */
    list: async (): Promise<StoredMute[]> => {
      const fields = await redis.hgetall(keys.mutes);
      return Object.entries(fields).flatMap(([id, json]) => (id.includes(' ') ? [] : [toStored(fields, id, json)]));
    },
    /** A mute that is stored already stays as it is. True where it was new. */
    add: (mute: Mute): Promise<boolean> => setOnce(mute.id, JSON.stringify(mute)),
    /** Ends it at `at`, in epoch milliseconds. A mute that was ended before stays so. */
    end: async (id: string, at: number): Promise<void> => void (await setOnce(`${id} endedAt`, iso(at))),
    /** Lets it end at `until`. False where it is unknown, or was ended by hand or closed already. */
    extend: async (id: string, until: number): Promise<boolean> => {
      const before = await redis.hget(keys.mutes, id);
      if (before === null) return false;
      const after = JSON.stringify({ ...(JSON.parse(before) as Mute), until: iso(until) });
      return (await redis.eval(EXTEND, 1, keys.mutes, id, after, before)) === 1;
    },
    /** From here on it hides nothing more, in no daemon. */
    close: async (id: string, at: number): Promise<void> => void (await setOnce(`${id} closedAt`, iso(at))),
    forget: async (ids: readonly string[]): Promise<void> => {
      const fields = ids.flatMap((id) => [id, ...FACTS.map((fact) => `${id} ${fact}`)]);
      if (fields.length > 0) await redis.hdel(keys.mutes, ...fields);
    },
  };
};
