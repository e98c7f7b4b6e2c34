/** Composes what commands read: the daemons' Redis. Starts nothing. */
import type { Config } from '../config/schema.ts';
import { createNameStore, type Names, NO_NAMES } from '../features/names/names.ts';
import { createRouteReview } from '../features/routes/review.ts';
import { fallbackRoutes, routeSettings, watchdogRoutes } from '../features/routes/routes.ts';
import { createStatus } from '../features/status/status.ts';
import { createCatalog, createNameFilter } from '../poll/catalog.ts';
import { attachRedis } from './redis.ts';
import { createStore } from './store.ts';

export const openView = async (config: Config) => {
  const { redis, prefix, close } = await attachRedis(config);
  const now = Date.now;
  const store = createStore({ redis, prefix, onError: () => {}, now });
  const catalog = createCatalog({
    redis,
    prefix,
    list: () => Promise.reject(new Error('a view lists nothing')),
    isIncluded: createNameFilter(config.protocols.include, config.protocols.exclude),
  });
  const settings = routeSettings(config);
  const review = createRouteReview(settings, { warn: () => {} }, [
    ...fallbackRoutes(config, settings).problems,
    ...watchdogRoutes(config, settings).problems,
  ]);
  for (const { name } of config.services) review.review(name, await catalog.protocols(name));
  return {
    store,
    catalog,
    review,
    status: createStatus({
      ...store,
      config,
      protocols: catalog.protocols,
      unwatched: catalog.unwatched,
      daemons: store.daemonReports.list,
      review,
      now,
    }),
    close: async () => {
      await store.close();
      await close();
    },
  };
};

// What providers call destinations, for a command that works without Redis.

/** As a daemon has looked them up; none where its Redis does not answer. */
export const knownNames = async (config: Config): Promise<Names> => {
  try {
    const { redis, prefix, close } = await attachRedis(config);
    return await createNameStore(redis, prefix, Date.now).all().finally(close);
  } catch {
    return NO_NAMES;
  }
};
