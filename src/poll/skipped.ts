/** What was not read because the config or the service had left it out, and is not owed: an operator can replay it. */
import type { Cluster, Redis } from 'ioredis';
import { execute } from '../redis/pipeline.ts';
import { iso } from '../time.ts';
import { type Track, trackKey } from './cursor.ts';

/** In epoch milliseconds by the service's clock. */
export interface Skipped extends Track {
  from: number;
  to: number;
}

const quoted = (word: string): string => (/^[\w.-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`);

/** The command that sends what was skipped. `protocol` left out: of all. */
export const replayOf = ({ protocol, from, to }: Pick<Skipped, 'from' | 'to'> & { protocol?: string }): string => {
  const only = protocol === undefined ? '' : ` --protocol ${quoted(protocol)}`;
  return `tocsin replay${only} --since ${iso(from)} --until ${iso(to)}`;
};

/** So long it is remembered. */
const KEEP_MS = 86_400_000;

export const createSkipped = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const key = `${prefix}:skipped`;
  return {
    note: async (track: Track, from: number, to: number): Promise<void> => {
      const json = JSON.stringify({ ...track, from, to, at: now() });
      await execute(redis.pipeline().hset(key, trackKey(track), json).pexpire(key, KEEP_MS));
    },
    list: async (): Promise<Skipped[]> => {
      const all = (await redis.hvals(key)).map((json) => JSON.parse(json) as Skipped & { at: number });
      const old = all.filter(({ at }) => now() - at > KEEP_MS);
      if (old.length > 0) await redis.hdel(key, ...old.map(trackKey));
      return all.filter((one) => !old.includes(one));
    },
  };
};

export type SkippedStore = ReturnType<typeof createSkipped>;
