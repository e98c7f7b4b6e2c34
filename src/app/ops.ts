/** Composes what operators see of a daemon: its page, its status, its metrics, and what keeps these within their bounds. */

import { hostname } from 'node:os';
import type { Destination } from '../alert.ts';
import { withWellKnown } from '../channels/chains.ts';
import { pacingOf } from '../channels/registry.ts';
import { createMayBePressed } from '../features/acknowledgement/unacknowledged.ts';
import { createAuditMarks } from '../features/audit/job.ts';
import { createBoard } from '../features/board/board.ts';
import { createSelfReport, type DaemonReport } from '../features/conditions/daemons.ts';
import { createKnowing, isSilent, type Knowing } from '../features/conditions/list.ts';
import { createDeadLetterBound } from '../features/housekeeping/housekeeping.ts';
import { createNameLookUp } from '../features/names/names.ts';
import { createPageActions } from '../features/page/actions.ts';
import { configEntries, createPageDetails, createRouteDetails } from '../features/page/details.ts';
import { createDrop } from '../features/replay/retry.ts';
import { createHanging } from '../features/routes/hanging.ts';
import { createGoneDestinations, type RouteReview } from '../features/routes/review.ts';
import { fallbackRoutes, routeSettings } from '../features/routes/routes.ts';
import { createCounters } from '../features/status/counters.ts';
import { createGauges } from '../features/status/gauges.ts';
import { createStatus } from '../features/status/status.ts';
import { createHashFinder, createTracer, shortHashOf, type Trace } from '../features/trace/trace.ts';
import type { PageActions } from '../ops/page/actions.ts';
import { createPages } from '../ops/page/pages.ts';
import { QUEUES } from '../ops/page/queues.ts';
import type { OpsServerSettings } from '../ops/server.ts';
import { oneAtATime } from '../waiting.ts';
import { openDestinations, openRetry } from './approval.ts';
import type { Verbs } from './compose.ts';
import type { Context } from './context.ts';
import { openReview } from './view.ts';

interface PageContext extends Context {
  catalog: Verbs['reading']['catalog'];
  review: RouteReview;
  known: Knowing;
}

const createRates = ({ channels }: Context['config']) => {
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
const openSearch = ({ config, store }: Context) => {
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

const openPageActions = (context: PageContext): PageActions => {
  const { config, store, catalog, review, known, now } = context;
  const fallback = fallbackRoutes(config, routeSettings(config)).destinations;
  return createPageActions({
    ...{ ...store, config, now },
    conditions: known.conditions,
    retry: (letters) => openRetry({ config, store, catalog }).retry(letters),
    drop: createDrop(store),
    approval: openDestinations(context, review),
    destinations: () => [...review.destinations(), ...fallback],
  });
};

const openPage = (context: PageContext) => {
  const { config, store, catalog, review, scrub, now } = context;
  return createPageDetails({
    ...store,
    services: config.services.map(({ name }) => name),
    chains: withWellKnown(config.chains),
    config: configEntries(config, scrub),
    isGateOn: config.destinations.gate,
    marks: createAuditMarks(store.redis, store.prefix),
    routes: createRouteDetails({ review, rateOf: createRates(config) }),
    protocols: catalog.protocols,
    known: openDestinations(context, review).list,
    mayBePressed: () => createMayBePressed(config, now()),
    trace: openSearch(context),
    now,
  });
};

export type Ops = ReturnType<typeof openOps>;

export const openOps = (context: Context, { reading, delivering, acknowledgement }: Verbs) => {
  const { config, store, metrics, health, log, limits } = context;
  const { catalog } = reading;
  const { daemonId: id, startedAt, uptimeMs, scrub } = context;
  const self = { id, host: hostname(), pid: process.pid, startedAt, uptimeMs };
  const reportSelf = createSelfReport({ ...self, health, services: reading.states, scrub });
  const selfReport = (): DaemonReport => ({ ...reportSelf(), ...context.reportConfig() });
  const { review, named, hasFallback } = openReview(config, log);
  const routed = () => [...review.destinations(), ...named];
  const hanging = createHanging(config, review);
  const counters = createCounters({
    ...{ config, metrics, catalog, routed, hasFallback },
    names: store.names.all,
  });
  const forgetGone = createGoneDestinations({
    ...store,
    routed: async () => {
      const found = await Promise.all(config.services.map(({ name }) => catalog.protocols(name)));
      // A service that lists nothing may be one that was never read.
      return found.some(({ size }) => size === 0) ? undefined : routed();
    },
    keepSeries: counters.keepDestinations,
    log,
    now: context.now,
  });
  const known = createKnowing({ ...catalog, ...store, config, review, self: selfReport });
  const status = createStatus({ ...store, ...context, protocols: catalog.protocols, known, routed, hanging });
  const { pollDurations } = reading;
  metrics.onScrape(async () => {
    if (!isSilent(known.own())) await counters.begin();
  });
  const gauges = createGauges({ ...store, ...context, catalog, review, pollDurations, known });
  metrics.onScrape(gauges.ask, gauges.show);
  const lookUpNames = createNameLookUp({
    names: store.names,
    channels: context.channels,
    destinations: routed,
    log,
  });
  const boundDeadLetters = createDeadLetterBound(store.dead, metrics, log, limits.dead);
  const keepHouse = async (): Promise<void> => {
    await boundDeadLetters();
    await delivering.endLeftKinds();
  };
  /** What the ops server shows. */
  const ask = oneAtATime(status);
  const page = { ...context, catalog, review, known };
  const { token, trustedProxy, publicUrl, queues } = config.ops;
  const { links } = acknowledgement ?? {};
  const pages = createPages({
    ...context,
    status: ask,
    own: known.own,
    source: openPage(page),
    actions: openPageActions(page),
    queues: queues ? createBoard({ path: QUEUES, queues: store.queues.readable(), scrub }) : undefined,
    token: token?.reveal(),
    ended: context.store.endedSessions,
    ...{ trustedProxy, publicUrl, links },
  });
  context.lifecycle.onStop('pages', async () => pages.stop());
  const { now } = context;
  const endpoints: OpsServerSettings = { ...config.ops, health, metrics, status: ask, pages, log, now };
  return { review, selfReport, known, forgetGone, keepHouse, lookUpNames, endpoints };
};
