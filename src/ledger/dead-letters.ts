/** Deliveries that failed for good: kept whole until somebody retries or drops them, so many at most. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import { deliveryId } from '../item.ts';
import { askEach, execute } from '../redis/pipeline.ts';
import { NO_DESTINATION } from './record.ts';

export interface DeadDelivery {
  /** The delivery's id. */
  id: string;
  alert: Alert;
  /** Absent where the alert had no destination at all. */
  destination?: Destination;
  reason: string;
  /** A sentence without secrets. */
  message: string;
  attempts: number;
  /** ISO 8601. */
  at: string;
}

/** The id under which a dead delivery is kept. */
export const deadId = (alert: Pick<Alert, 'id'>, destination: Pick<Destination, 'id'> | undefined): string =>
  deliveryId(alert.id, (destination ?? NO_DESTINATION).id);

/** KEYS: the letters; ARGV: id, the letter as it was read. */
const REMOVE = `
if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then return 0 end
return redis.call('HDEL', KEYS[1], ARGV[1])`;

const parse = (json: string): DeadDelivery => JSON.parse(json) as DeadDelivery;

const READ_AT_ONCE = 500;
/** Each holds a whole alert, about 2 kB. */
export const MOST_DEAD = 50_000;
const TRIMMED_SECONDS = 7 * 24 * 3600;

export const createDeadLetters = (redis: Redis | Cluster, prefix: string, mostKept = MOST_DEAD) => {
  const key = `${prefix}:dead`;
  const trimmedKey = `${prefix}:dead-trimmed`;

  const get = async (ids: readonly string[]): Promise<DeadDelivery[]> => {
    if (ids.length === 0) return [];
    return (await redis.hmget(key, ...ids)).flatMap((json) => (json === null ? [] : parse(json)));
  };

  const remove = async (letters: readonly DeadDelivery[]): Promise<number> => {
    const answers = await askEach(redis, letters, (batch, letter) =>
      batch.eval(REMOVE, 1, key, letter.id, JSON.stringify(letter)),
    );
    return answers.filter((answer) => answer === 1).length;
  };

  let known = new Map<string, Pick<DeadDelivery, 'destination' | 'at'>>();
  /** Every letter's destination and date by its id. Reads only letters that are new: they hold whole alerts. */
  const overview = async (): Promise<typeof known> => {
    const ids = await redis.hkeys(key);
    const next: typeof known = new Map();
    for (const id of ids) {
      const found = known.get(id);
      if (found) next.set(id, found);
    }
    const fresh = ids.filter((id) => !next.has(id));
    for (const some of chunksOf(fresh, READ_AT_ONCE)) {
      for (const { id, destination, at } of await get(some)) next.set(id, destination ? { destination, at } : { at });
    }
    known = next;
    return next;
  };

  return {
    add: async (dead: Omit<DeadDelivery, 'id'>): Promise<void> => {
      const id = deadId(dead.alert, dead.destination);
      await redis.hset(key, id, JSON.stringify({ id, ...dead }));
    },
    list: async (): Promise<DeadDelivery[]> =>
      (await redis.hvals(key)).map(parse).sort((a, b) => a.at.localeCompare(b.at)),
    /** Of all dead letters, in no order; cheap however many there are. */
    ids: (): Promise<string[]> => redis.hkeys(key),
    /** Those of `ids` that are kept, in their order. */
    get,
    /** Removes letters, each only as it was read: a delivery that died again meanwhile stays. */
    remove: async (letters: readonly DeadDelivery[]): Promise<void> => {
      await remove(letters);
    },
    count: (): Promise<number> => redis.hlen(key),
    /** The `most` that died last, the last first; cheap however many there are. */
    latest: async (most: number): Promise<DeadDelivery[]> => {
      const byAge = [...(await overview())].sort(([, a], [, b]) => (a.at < b.at ? 1 : -1));
      return get(byAge.slice(0, most).map(([id]) => id));
    },
    /** Removes the oldest where too many are kept; gives how many. Their deliveries stay dead in the ledger. */
    trim: async (): Promise<number> => {
      const excess = (await redis.hlen(key)) - mostKept;
      if (excess <= 0) return 0;
      const all = await overview();
      const oldest = new Map([...all].sort(([, a], [, b]) => a.at.localeCompare(b.at)).slice(0, excess));
      let removed = 0;
      for (const ids of chunksOf([...oldest.keys()], READ_AT_ONCE)) {
        const letters = await get(ids);
        // One that died again since it was read is not old any more.
        for (const { id, destination, at } of letters) all.set(id, destination ? { destination, at } : { at });
        removed += await remove(letters.filter(({ id, at }) => at === oldest.get(id)?.at));
      }
      await execute(redis.pipeline().hincrby(trimmedKey, 'trimmed', removed).expire(trimmedKey, TRIMMED_SECONDS));
      return removed;
    },
    /** How many were removed so, up to a week after the last time. */
    trimmed: async (): Promise<number> => Number(await redis.hget(trimmedKey, 'trimmed')),
    /**
     * How many are kept, by destination id; a destination without any is left out, and so are alerts that had none. `since`:
     * only those that died then or later (ISO 8601).
     */
    byDestination: async (
      since = '',
    ): Promise<ReadonlyMap<Destination['id'], { destination: Destination; dead: number }>> => {
      const counts = new Map<string, { destination: Destination; dead: number }>();
      for (const { destination, at } of (await overview()).values()) {
        if (!destination || at < since) continue;
        counts.set(destination.id, { destination, dead: (counts.get(destination.id)?.dead ?? 0) + 1 });
      }
      return counts;
    },
  };
};

export type DeadLetters = ReturnType<typeof createDeadLetters>;
