/** What providers call destinations, for a command that works without Redis. */
import type { Config } from '../config/schema.ts';
import { type Names, NO_NAMES } from '../features/names/show.ts';
import { createNameStore } from '../features/names/store.ts';
import { attachRedis } from './redis.ts';

/** As a daemon has looked them up; none where its Redis does not answer. */
export const knownNames = async (config: Config): Promise<Names> => {
  try {
    const { redis, prefix, close } = await attachRedis(config);
    return await createNameStore(redis, prefix, Date.now).all().finally(close);
  } catch {
    return NO_NAMES;
  }
};
