/** What providers call destinations: names of channels, titles of chats. Looked up once a day, for people to read. */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../../alert.ts';

interface Remembered {
  /** Absent where the provider does not say. */
  name?: string;
  /** Epoch milliseconds of the look-up. */
  at: number;
}

export interface NameStore {
  /** By destination id: one command, for a whole display. Destinations without a name are left out. */
  all(): Promise<ReadonlyMap<Destination['id'], string>>;
  /** Those of `ids` that were not looked up lately; where there are too many, all others are forgotten. */
  due(ids: readonly Destination['id'][]): Promise<Destination['id'][]>;
  /** `name` is undefined where the provider does not say: that is remembered, too. */
  note(id: Destination['id'], name: string | undefined): Promise<void>;
}

const LOOKED_UP_EVERY_MS = 24 * 3_600_000;

/** A destination that nothing leads to is forgotten at last, and so is everything of a daemon that is gone. */
const KEPT_SECONDS = 35 * 24 * 3600;
const MOST_NAMES = 5000;

const readRemembered = (json: string): Remembered | undefined => {
  const value: unknown = JSON.parse(json);
  if (typeof value !== 'object' || value === null || !('at' in value) || typeof value.at !== 'number') return undefined;
  const name = 'name' in value && typeof value.name === 'string' ? { name: value.name } : {};
  return { ...name, at: value.at };
};

/** In one hash of Redis, of at most 5,000 names. `now`: epoch milliseconds. */
export const createNameStore = (redis: Redis | Cluster, prefix: string, now: () => number): NameStore => {
  const key = `${prefix}:names`;

  const read = async (): Promise<Map<string, Remembered>> =>
    new Map(
      Object.entries(await redis.hgetall(key)).flatMap(([id, json]) => {
        const remembered = readRemembered(json);
        return remembered === undefined ? [] : [[id, remembered] as const];
      }),
    );

  return {
    all: async () =>
      new Map([...(await read())].flatMap(([id, { name }]) => (name === undefined ? [] : [[id, name] as const]))),
    due: async (ids) => {
      const known = await read();
      const isDue = (id: string): boolean =>
        now() - (known.get(id)?.at ?? Number.NEGATIVE_INFINITY) > LOOKED_UP_EVERY_MS;
      const wanted = new Set(ids);
      const gone = [...known.keys()].filter((id) => !wanted.has(id));
      if (known.size >= MOST_NAMES && gone.length > 0) await redis.hdel(key, ...gone);
      const isFull = known.size - gone.length >= MOST_NAMES;
      return ids.filter((id) => isDue(id) && (known.has(id) || !isFull));
    },
    note: async (id, name) => {
      const remembered: Remembered = { ...(name === undefined ? {} : { name }), at: now() };
      await redis.multi().hset(key, id, JSON.stringify(remembered)).expire(key, KEPT_SECONDS).exec();
    },
  };
};
