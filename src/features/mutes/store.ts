/** Mutes in Redis. What they hide is in `hidden-store.ts`. */
import type { Cluster, Redis } from 'ioredis';
import type { Mute } from '../../mute.ts';
import { iso } from '../../time.ts';
import { createHiddenStore, type HiddenStore, MOST_LISTED, muteKeys } from './hidden-store.ts';

/** A mute and what became of it. Times are ISO 8601. The names of the facts are those in Redis. */
export interface StoredMute extends Mute {
  /** Ended by hand. */
  endedAt?: string;
  /** From then on it hides nothing more. */
  closedAt?: string;
  /** The list of what it hid was sent, or it hid nothing. */
  toldAt?: string;
  /** Alerts that it hid, at one destination or more. */
  hid: number;
}

export interface MuteStore extends HiddenStore {
  /** All that are kept, with those that ended lately. */
  list(): Promise<StoredMute[]>;
  /** A mute that is stored already stays as it is. True where it was new. */
  add(mute: Mute): Promise<boolean>;
  /** Ends it at `at`, in epoch milliseconds. A mute that was ended before stays so. */
  end(id: string, at: number): Promise<void>;
  /** Lets it end at `until`. False where it is unknown, or was ended by hand or closed already. */
  extend(id: string, until: number): Promise<boolean>;
  /** From here on it hides nothing more, in no daemon. */
  close(id: string, at: number): Promise<void>;
  /** Forgets mutes. */
  forget(ids: readonly string[]): Promise<void>;
}

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

const FACTS = ['endedAt', 'closedAt', 'toldAt', 'hid'] as const;

const toStored = (fields: Readonly<Record<string, string>>, id: string, json: string): StoredMute => {
  const facts = FACTS.flatMap((fact) => {
    const value = fields[`${id} ${fact}`];
    return value === undefined ? [] : [[fact, fact === 'hid' ? Number(value) : value]];
  });
  return { ...(JSON.parse(json) as Mute), hid: 0, ...Object.fromEntries(facts) };
};

/** `now`: epoch milliseconds; `mostListed`: alerts that a report lists for each destination. */
export const createMuteStore = (
  redis: Redis | Cluster,
  prefix: string,
  now: () => number,
  mostListed = MOST_LISTED,
): MuteStore => {
  const keys = muteKeys(prefix);
  const setOnce = async (field: string, value: string): Promise<boolean> =>
    (await redis.hsetnx(keys.mutes, field, value)) === 1;

  return {
    ...createHiddenStore(redis, prefix, now, mostListed),
    list: async () => {
      const fields = await redis.hgetall(keys.mutes);
      return Object.entries(fields).flatMap(([id, json]) => (id.includes(' ') ? [] : [toStored(fields, id, json)]));
    },
    add: (mute) => setOnce(mute.id, JSON.stringify(mute)),
    end: async (id, at) => void (await setOnce(`${id} endedAt`, iso(at))),
    extend: async (id, until) => {
      const before = await redis.hget(keys.mutes, id);
      if (before === null) return false;
      const after = JSON.stringify({ ...(JSON.parse(before) as Mute), until: iso(until) });
      return (await redis.eval(EXTEND, 1, keys.mutes, id, after, before)) === 1;
    },
    close: async (id, at) => void (await setOnce(`${id} closedAt`, iso(at))),
    forget: async (ids) => {
      const fields = ids.flatMap((id) => [id, ...FACTS.map((fact) => `${id} ${fact}`)]);
      if (fields.length > 0) await redis.hdel(keys.mutes, ...fields);
    },
  };
};
