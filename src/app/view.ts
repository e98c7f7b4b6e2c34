/** Composes what commands read: the daemons' Redis. Starts nothing. */
import type { Config } from '../config/schema.ts';
import { createKnowing } from '../features/conditions/list.ts';
import { createNameStore, type Names, NO_NAMES } from '../features/names/names.ts';
import { createHanging } from '../features/routes/hanging.ts';
import { createRouteReview } from '../features/routes/review.ts';
import { fallbackRoutes, routeSettings, watchdogRoutes } from '../features/routes/routes.ts';
import { createStatus } from '../features/status/status.ts';
import { createCatalog, createNameFilter } from '../poll/catalog.ts';
import { attachRedis, type OpenRedis } from './redis.ts';
import { createStore } from './store.ts';

/** Commands list nothing into it: where alerts go follows what daemons have announced. */
const list = () => Promise.reject(new Error('this command lists no protocols'));

/** What daemons have listed. */
export const catalogOf = ({ protocols }: Config, { redis, prefix }: Pick<OpenRedis, 'redis' | 'prefix'>) =>
  createCatalog({ redis, prefix, list, isIncluded: createNameFilter(protocols.include, protocols.exclude) });

/** Where the protocols of each service lead; and what the config itself names, which needs no listing. */
export const openReview = (config: Config, log: Parameters<typeof createRouteReview>[1]) => {
  const settings = routeSettings(config);
  const [fallback, watchdog] = [fallbackRoutes(config, settings), watchdogRoutes(config, settings)];
  return {
    review: createRouteReview(settings, log, [...fallback.problems, ...watchdog.problems]),
    named: [...fallback.destinations, ...watchdog.destinations],
    hasFallback: fallback.destinations.length > 0,
  };
};

export const openView = async (config: Config) => {
  const { redis, prefix, close } = await attachRedis(config);
  const now = Date.now;
  const store = createStore({ redis, prefix, onError: () => {}, now });
  const catalog = catalogOf(config, { redis, prefix });
  const { review, named } = openReview(config, { warn: () => {} });
  for (const { name } of config.services) review.review(name, await catalog.protocols(name));
  const known = createKnowing({ ...catalog, ...store, config, review });
  return {
    store,
    catalog,
    review,
    known,
    status: createStatus({
      ...store,
      config,
      protocols: catalog.protocols,
      known,
      routed: () => [...review.destinations(), ...named],
      hanging: createHanging(config, review),
      now,
    }),
    close: async () => {
      await store.close();
      await close();
    },
  };
};

/** What providers call destinations, as a daemon has looked it up; none where its Redis does not answer. */
export const knownNames = async (config: Config): Promise<Names> => {
  try {
    const { redis, prefix, close } = await attachRedis(config);
    return await createNameStore(redis, prefix, Date.now).all().finally(close);
  } catch {
    return NO_NAMES;
  }
};
