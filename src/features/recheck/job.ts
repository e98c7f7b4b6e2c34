/** Hands the second look what it needs: what polls and sweeps read, the service, the books, and the way to people. */
import type { Logger } from 'pino';
import { type Alert, alertId, type Item, isHuman } from '../../alert.ts';
import { hasRecheck } from '../../app/schedule.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import type { RoutedAlert } from '../../dispatch/stage.ts';
import type { DeliveryRecord } from '../../ledger/record.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Outages } from '../../ops/outages.ts';
import type { Catalog } from '../../poll/catalog.ts';
import type { Track } from '../../poll/cursor.ts';
import { createLateItems, type Unknown } from '../../poll/late-items.ts';
import { createPollLock } from '../../poll/lock.ts';
import type { Stream } from '../../poll/poller.ts';
import type { Service } from '../../service/open.ts';
import { createRouting, routeSettings } from '../routes/routes.ts';
import { createRecheck } from './recheck.ts';
import { createRecheckStore } from './store.ts';
import { firstRecheck, type Told } from './verdict.ts';

export interface RecheckJobDependencies {
  config: Config;
  store: Store;
  metrics: Metrics;
  outages: Outages;
  log: Logger;
  catalog: Catalog;
  serviceOf(name: string): Service;
  dispatch(alerts: readonly Alert[]): Promise<void>;
  /** Enqueues alerts whose destinations are known, but for what is muted or held. Gives how many parcels were queued. */
  dispatchRouted(alerts: readonly RoutedAlert[]): Promise<number>;
  now(): number;
}

const CONFIRM_MS = 60_000;
const TYPE = /^inspection\./;

/** Destinations that have an alert, or will. People hear of what was muted when the mute ends; programs do not. */
const hears = ({ state, destination }: DeliveryRecord): boolean =>
  state === 'delivered' || state === 'waiting' || (state === 'muted' && isHuman(destination));

export const createRecheckJob = (dependencies: RecheckJobDependencies) => {
  const { config, store, metrics, outages, log, catalog, serviceOf, dispatch, now } = dependencies;
  const { secondLook: offsets, assessments } = config.alerts;
  const isOn = hasRecheck(config);
  const looks = createRecheckStore(store.redis, store.prefix);
  const lock = createPollLock(store.locks);
  const lateItems = createLateItems({ cursors: store.cursors, seen: store.seen, lock, dispatch, now });
  const { destinationsOf } = createRouting({
    config,
    settings: routeSettings(config),
    protocolOf: catalog.protocolOf,
  });
  const isFull = new Set<string>();

  /** What polls do not ask the service for: they ask for one assessment where they want only one. */
  const isUnread = assessments.length === 1 && assessments[0] !== 'suspecious';

  const clock = (service: string): number => serviceOf(service).clock.now();

  const note = async ({ service, protocols: [protocol = ''] }: Stream, items: readonly Item[]): Promise<void> => {
    const found = items.flatMap((item) => firstRecheck(item, protocol, clock(service), { offsets, assessments }) ?? []);
    const refused = await looks.note(service, found);
    if (refused === 0 || isFull.has(service)) return;
    isFull.add(service);
    log.warn({ service, refused }, 'too many inspections to read again: some are not');
  };

  const toldOf = async (service: string, itemId: string): Promise<Told | undefined> => {
    const record = await store.ledger.read(alertId(service, 'inspections', itemId));
    if (!record) return undefined;
    const destinations = record.deliveries.filter(hears);
    return {
      alertId: record.alert.id,
      assessment: record.alert.type.replace(TYPE, ''),
      destinations: destinations.map(({ destination }) => destination.id),
    };
  };

  /** A poll may have taken it meanwhile, or have found that no trigger asks for it. */
  const unknown: Unknown = async (track, alerts) => {
    const identities = alerts.map(({ id }) => ({ id, latest: 0 }));
    const ids = new Set((await store.seen.unknown(track, identities)).map(({ id }) => id));
    const records = await Promise.all(alerts.map(({ id }) => store.ledger.read(id)));
    return alerts.filter(({ id }, index) => ids.has(id) && records[index] === undefined);
  };

  const forward = async (service: string, protocol: string, item: Item) => {
    const taken = await lateItems.take({ service, source: 'inspections', protocol }, [item], unknown);
    if (taken === undefined) return 'busy';
    if (taken.length === 0) return 'known';
    log.info({ service, protocol, item: item.itemId }, 'found by a second look');
    return 'forwarded';
  };

  /** Where the alert that it follows was muted. */
  const mutedOf = async ({ followUp: change }: Alert): Promise<ReadonlySet<string>> => {
    const first = change && (await store.ledger.read(change.of));
    const deliveries = first?.deliveries ?? [];
    return new Set(deliveries.filter(({ state }) => state === 'muted').map(({ destination }) => destination.id));
  };

  /**
   * To those of its destinations that the protocol, or the fallback, still has; no trigger is asked, as it let the first
   * alert through.
   */
  const followUp = async (alert: Alert, destinations: readonly string[]): Promise<void> => {
    const all = await destinationsOf(alert);
    const told = new Map(all.filter(({ id }) => destinations.includes(id)).map((one) => [one.id, one]));
    const routed = { alert, destinations: [...told.values()], mutedAt: await mutedOf(alert) };
    const parcels = await dependencies.dispatchRouted([routed]);
    const { service, protocol, itemId, type, followUp: change } = alert;
    log.info({ service, protocol, item: itemId, type, ...change, destinations: parcels }, 'follow-up');
  };

  const subjectOf = (protocol: string): string => `second look at ${protocol}`;

  const look = createRecheck({
    looks,
    settings: { offsets, assessments, confirmAfter: Math.min(CONFIRM_MS, ...offsets) },
    lookUp: (service, protocol, wanted, signal) => serviceOf(service).lookUp(protocol, wanted, signal),
    toldOf,
    forward,
    followUp,
    onLooked: (service, { protocol }, outcome) => {
      metrics.looks.inc({ service, outcome });
      outages.worked(service, subjectOf(protocol));
    },
    onFailed: (service, protocol, error) => outages.failed(service, subjectOf(protocol), error),
    clock,
  });

  /** Until when the suspicious ones of a track are noted, by the service's clock. */
  const gatheredTo = new Map<string, number>();

  const gather = async (track: Track, signal: AbortSignal): Promise<void> => {
    const { service, protocol } = track;
    const begun = clock(service);
    const { lookback, overlap } = config.poll;
    const since = (gatheredTo.get(`${service} ${protocol}`) ?? begun - lookback) - overlap;
    for await (const { items } of serviceOf(service).near.inspections(protocol, since, signal)) {
      await note({ ...track, protocols: [protocol] }, items);
    }
    gatheredTo.set(`${service} ${protocol}`, begun);
    outages.worked(service, subjectOf(protocol));
  };

  return {
    /** Watches what a poll has read. */
    note: async (stream: Stream, items: readonly Item[]): Promise<void> => {
      if (isOn && stream.source === 'inspections') await note(stream, items);
    },
    /** Reads the suspicious ones that polls do not ask for; to be called after a sweep. Never throws. */
    gather: async ({ service, source, protocols: [protocol = ''] }: Stream, signal: AbortSignal): Promise<void> => {
      if (!isOn || !isUnread || source !== 'inspections') return;
      await gather({ service, source, protocol }, signal).catch((error: unknown) => {
        if (!signal.aborted) outages.failed(service, subjectOf(protocol), error);
      });
    },
    run: look,
  };
};
