/** Composes what the status page shows and does. */
import type { Destination } from '../alert.ts';
import { withWellKnown } from '../channels/chains.ts';
import { pacingOf } from '../channels/pacing.ts';
import type { Config } from '../config/schema.ts';
import { createAuditMarks } from '../features/audit/job.ts';
import { createActiveMutes } from '../features/mutes/active.ts';
import { createPageActions } from '../features/page/actions.ts';
import { createPageDetails } from '../features/page/details.ts';
import { createRouteDetails } from '../features/page/routes.ts';
import { configEntries } from '../features/page/words.ts';
import { createDrop } from '../features/replay/drop.ts';
import type { RouteReview } from '../features/routes/review.ts';
import { fallbackRoutes, routeSettings } from '../features/routes/routes.ts';
import { createHashFinder, shortHashOf } from '../features/trace/short-hash.ts';
import { createTracer, type Trace } from '../features/trace/trace.ts';
import type { PageActions } from '../ops/page/action-pages.ts';
import type { Catalog } from '../poll/catalog.ts';
import { openDestinations } from './approval.ts';
import { openRetry } from './retry.ts';
import type { Store } from './store.ts';

export interface OpenPage {
  config: Config;
  store: Store;
  catalog: Pick<Catalog, 'protocols' | 'protocolOf'>;
  review: RouteReview;
  scrub(text: string): string;
  now(): number;
}

const createRates = ({ channels }: Config) => {
  const pacings = new Map(
    Object.entries(channels).flatMap(([kind, options]) => (options === undefined ? [] : [[kind, pacingOf(options)]])),
  );
  return (destination: Destination) => pacings.get(destination.kind)?.paceOf(destination).rate;
};

/** Fewer digits at the beginning of a short hash may mean too many alerts to read. */
const LEAST_DIGITS = 4;
/** Of the transactions that a short hash may mean, the latest are shown. */
const MOST_FOUND = 5;

/**
 * Everybody who reaches the page may search. So a search reads no more than a few alerts: neither the whole ledger for a
 * delivery's id, nor all dead letters; the `trace` command does both.
 */
const openSearch = ({ config, store }: OpenPage) => {
  const trace = createTracer({
    ...store,
    dead: { ids: async () => [], get: store.dead.get },
    alertIndex: { between: async () => [], destinations: store.alertIndex.destinations },
    services: config.services.map(({ name }) => name),
  });
  const findHashes = createHashFinder(store);
  return async (name: string): Promise<Trace[]> => {
    const short = shortHashOf(name);
    if (short === undefined || short.head.length < LEAST_DIGITS) return trace(name);
    const hashes = (await findHashes(short)).flatMap(({ txHash }) => txHash ?? []);
    return (await Promise.all(hashes.slice(-MOST_FOUND).map(trace))).flat();
  };
};

/** What whoever is signed in may do. */
export const openPageActions = ({ config, store, catalog, review, now }: OpenPage): PageActions => {
  const fallback = fallbackRoutes(config, routeSettings(config)).destinations;
  const { states } = createActiveMutes({ config, mutes: store.mutes, now });
  return createPageActions({
    deadLetters: store.dead,
    retry: (letters) => openRetry({ config, store, catalog }).retry(letters),
    drop: createDrop(store),
    muteRules: config.mutes,
    mutes: store.mutes,
    activeMutes: async () => (await states()).active,
    approval: openDestinations({ config, store, review }),
    destinations: () => [...review.destinations(), ...fallback],
    service: config.services[0]?.name ?? 'test',
    send: async (parcel) => {
      await store.ledger.recordWaiting([parcel]);
      await store.queues.enqueue([parcel]);
    },
    operatorLog: store.operatorLog,
    now,
  });
};

export const openPage = (dependencies: OpenPage) => {
  const { config, store, catalog, review, scrub, now } = dependencies;
  return createPageDetails({
    services: config.services.map(({ name }) => name),
    chains: withWellKnown(config.chains),
    config: configEntries(config, scrub),
    isGateOn: config.destinations.gate,
    outlines: store.outlines,
    acknowledgements: store.acknowledgements,
    destinationStats: store.destinationStats,
    deadLetters: store.dead,
    operatorLog: store.operatorLog,
    marks: createAuditMarks(store.redis, store.prefix),
    routes: createRouteDetails({ review, rateOf: createRates(config) }),
    protocols: catalog.protocols,
    isHolding: async () => (await store.held.list()).length > 0,
    known: openDestinations({ config, store, review }).list,
    listDisabled: store.disabled.list,
    trace: openSearch(dependencies),
    now,
  });
};
