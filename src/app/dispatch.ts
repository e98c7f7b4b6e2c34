/** Composes `dispatch`: hands its stages the features that enrich, route, correlate, suppress and divert alerts. */

import { type Alert, type Destination, muteFacts, onceEach } from '../alert.ts';
import { conditionKey } from '../condition.ts';
import { createDispatch, type Dispatch } from '../dispatch/dispatch.ts';
import { createAnnounce, createEnqueueOnce } from '../features/announcements/announce.ts';
import { createHoldAnnouncer } from '../features/approval/hold.ts';
import { createOutageNotifier } from '../features/broken-destinations/notifier.ts';
import { createAnnouncer } from '../features/conditions/announcer.ts';
import { GROUPS } from '../features/conditions/store.ts';
import { correlationSettings, createCorrelation } from '../features/correlation/correlate.ts';
import { createEnrichment } from '../features/enrichment/enrich.ts';
import { createFallback } from '../features/fallback/fallback.ts';
import { createActiveMutes } from '../features/mutes/active.ts';
import { createMuteExpiry } from '../features/mutes/expiry.ts';
import { withName } from '../features/names/names.ts';
import {
  createRouting,
  createUnroutable,
  fallbackRoutes,
  openRoutes,
  routeSettings,
  standInRoutes,
  watchdogRoutes,
} from '../features/routes/routes.ts';
import { createStormEnd } from '../features/storms/storms.ts';
import { createFilter } from '../features/suppression/filter.ts';
import { LARGEST_ITEM } from '../item.ts';
import type { Catalog } from '../poll/catalog.ts';
import { openApproval } from './approval.ts';
import type { Shared } from './context.ts';

/** Each alert's trace begins when it is durably queued. */
const tracedDispatch = ({ tracing, now }: Shared, inner: Dispatch): Dispatch => {
  if (tracing === undefined) return inner;
  return {
    dispatch: async (alerts, nonce) => {
      const beganAt = now();
      await inner.dispatch(alerts, nonce);
      tracing.dispatched(alerts, beganAt);
    },
    dispatchRouted: async (routed) => {
      const beganAt = now();
      const parcels = await inner.dispatchRouted(routed);
      tracing.dispatched(
        routed.map(({ alert }) => alert),
        beganAt,
      );
      return parcels;
    },
  };
};

/** Announcements and the fallback: both enqueue deliveries that no route asks for. */
const openFallback = (shared: Shared, correlation: ReturnType<typeof createCorrelation>) => {
  const { config, store } = shared;
  const settings = routeSettings(config);
  const enqueueOnce = createEnqueueOnce(store.ledger, store.queues.enqueue);
  const fallback = createFallback({
    ...shared,
    ...store,
    destinations: fallbackRoutes(config, settings).destinations,
    standIns: standInRoutes(config, settings),
    afterMs: config.fallback?.after ?? 0,
    until: config.fallback?.until ?? 'delivered',
    ...(config.alerts.acknowledge && { acknowledged: store.acknowledgements.acknowledged }),
    enqueueOnce,
    onDiverted: (alerts, reason) => shared.tracing?.happened('fallback', alerts, { 'tocsin.reason': reason }),
    outages: store.outageStore,
    names: store.names.all,
    correlation,
  });
  return { fallback, announce: createAnnounce(enqueueOnce, fallback.setDeadline) };
};

const openSuppression = (shared: Shared, { fallback, announce }: ReturnType<typeof openFallback>) => {
  const { config, store, metrics, log, now } = shared;
  const settings = routeSettings(config);
  const all = [...fallback.destinations, ...watchdogRoutes(config, settings).destinations];
  const readers = onceEach(all);
  const onHeld = createHoldAnnouncer({ held: store.held, announce, readers, fallback, names: store.names.all, log });
  const onFull = ({ id, label }: Destination, { length: dead }: readonly Alert[]): void => {
    metrics.heldRefused.inc(dead);
    log.error(
      { destination: id, to: [label], dead },
      'too many alerts wait for approval of destinations; newer ones are dead',
    );
  };
  const approval = openApproval({ ...shared, onHeld, onFull });
  const onMuted = (muted: readonly Destination[]): void => {
    for (const { kind, id } of muted) metrics.muted.inc({ kind, destination: id });
  };
  const activeMutes = createActiveMutes({
    config,
    mutes: store.mutes,
    onOpened: (mute) => store.operatorLog.record({ action: 'mute-begun', ...muteFacts(mute) }),
    onMuted,
    now,
  });
  const expireMutes = createMuteExpiry({
    ...shared,
    ...store,
    activeMutes,
    announce,
    fallback: fallback.destinations,
    isOpen: approval.isOpen,
    isConfigured: ({ kind }) => settings.configured.has(kind),
    names: store.names.all,
  });
  return {
    ...{ isOpen: approval.isOpen, isTrusted: approval.isTrusted },
    filter: createFilter(activeMutes, approval),
    expireMutes,
    releaseApproved: approval.releaseApproved,
  };
};

export type Dispatching = ReturnType<typeof openDispatch>;

/** `protocolOf`: what the catalog knows of an alert's protocol. */
export const openDispatch = (shared: Shared, protocolOf: Catalog['protocolOf']) => {
  const { config, store, metrics, log, now } = shared;
  const settings = routeSettings(config);
  const { routesOf, destinationsOf } = createRouting({ config, settings, protocolOf });
  const correlation = createCorrelation({
    ...correlationSettings(config),
    ledger: store.ledger,
    covered: store.coveredDeliveries,
    log,
  });
  const { fallback, announce } = openFallback(shared, correlation);
  const { isOpen, isTrusted, filter, expireMutes, releaseApproved } = openSuppression(shared, { fallback, announce });
  const inner = createDispatch({
    onTruncated: ({ id, service, protocol }, bytes) => {
      metrics.boundsReached.inc({ service, bound: 'item-bytes' });
      log.warn(
        { alert: id, service, protocol, bytes, kept: LARGEST_ITEM },
        'an item is too large: only a part is sent',
      );
    },
    withContext: createEnrichment({
      firstSeen: store.firstSeen,
      protocolOf,
      overrides: config.protocols.overrides,
      log,
    }),
    routesOf,
    onRouted: ({ service, protocol, source }) => metrics.alerts.inc({ service, protocol, source }),
    onUnroutable: createUnroutable({
      ...shared,
      ...store,
      deadLetters: store.dead,
      toFallback: fallback.onUnroutable,
    }),
    ...correlation,
    filter,
    setDeadline: fallback.setDeadline,
    recordWaiting: store.ledger.recordWaiting,
    enqueue: store.queues.enqueue,
  });
  const { dispatch, dispatchRouted } = tracedDispatch(shared, inner);
  const operators = watchdogRoutes(config, settings).destinations;
  const announcer = createAnnouncer({
    ...{ store: store.announced, locks: store.locks, announce, operators },
    ...{ fallback: fallback.destinations, log, now },
    groups: [
      ...[GROUPS.broken, GROUPS.watchdog],
      ...config.services.flatMap(({ name }) => [GROUPS.unread(name), GROUPS.silent(name), GROUPS.misfits(name)]),
    ],
  });
  const onDead: typeof fallback.onDead = async (destination, alerts, why) => {
    await announcer.died(destination, alerts);
    await fallback.onDead(destination, alerts, why);
  };
  const outageNotifier = createOutageNotifier({
    ...shared,
    ...store,
    outages: store.outageStore,
    announcer,
    deadLetters: store.dead,
    announce,
    operators,
    isSenderAnnounced: async (kind) => {
      const key = conditionKey({ name: 'channel', of: kind });
      return (await store.announced.list(GROUPS.watchdog)).some(({ members }) => members.includes(key));
    },
    fallback: fallback.destinations,
    routesOf: openRoutes(routesOf, isOpen),
    labelOf: settings.labelOf,
    named: async (destination) => withName(destination, await store.names.all()),
  });
  const { uncovered } = correlation;
  const isConfigured = ({ kind }: Destination): boolean => settings.configured.has(kind);
  const endStorms = createStormEnd({ ...store, announce, isOpen, isConfigured, now });
  return {
    ...{ dispatch, dispatchRouted, routesOf, destinationsOf, isOpen, isTrusted },
    ...{
      operators,
      fallback: { ...fallback, onDead },
      announce,
      announcer,
      expireMutes,
      releaseApproved,
      endStorms,
      outageNotifier,
      uncovered,
    },
  };
};
