/** The recheck of a running daemon: what it watches, and what runs in its turns. */
import type { Logger } from 'pino';
import { type Alert, type Destination, isHuman } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import type { RoutedAlert } from '../../dispatch/parcels.ts';
import { alertId, type Item } from '../../item.ts';
import { createDistinguish } from '../../ledger/distinguish.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { DeliveryRecord } from '../../ledger/record.ts';
import type { FailureLog } from '../../ops/failure-log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Track } from '../../poll/cursor.ts';
import { isWanted, type LateItems, type Unknown } from '../../poll/ingest.ts';
import { identityOf, type Seen } from '../../poll/seen.ts';
import type { Stream } from '../../poll/stream.ts';
import { hasUnknownWord } from '../../service/feed.ts';
import type { Service } from '../../service/open.ts';
import { createRecheck } from './recheck.ts';
import type { RecheckStore, Watched } from './store.ts';
import { type FirstAlert, firstRecheck } from './verdict.ts';

interface RecheckConfig {
  alerts: Pick<Config['alerts'], 'secondLook' | 'assessments' | 'sources'>;
}

const LONGEST_MS = 15_000;
const SHORTEST_MS = 100;

export const hasRecheck = ({ alerts }: RecheckConfig): boolean =>
  alerts.secondLook.length > 0 && alerts.sources.includes('inspections');

/** Milliseconds between two turns: a recheck is late by an eighth of the first offset at most. */
export const recheckEveryMs = ({ alerts }: RecheckConfig): number =>
  Math.max(SHORTEST_MS, Math.min(LONGEST_MS, Math.floor(Math.min(...alerts.secondLook) / 8)));

interface FollowUpDependencies {
  ledger: Pick<Ledger, 'read' | 'summaries'>;
  /** Where alerts of its protocol may go now, the fallback's destinations among them. */
  destinationsOf(alert: Alert): Promise<Destination[]>;
  /** Enqueues alerts whose destinations are known, but for what is muted or held. Gives how many parcels were queued. */
  dispatchRouted(alerts: readonly RoutedAlert[]): Promise<number>;
  log: Pick<Logger, 'info'>;
}

const TYPE = /^inspection\./;

/** Destinations that have the alert or will. People get a muted alert when the mute ends; programs do not. */
const isRecipient = ({ state, destination }: DeliveryRecord): boolean =>
  state === 'delivered' || state === 'waiting' || (state === 'muted' && isHuman(destination));

/** What the ledger knows of the first alert of an inspection, and how its follow-up gets to people. */
export const createFollowUps = ({ ledger, destinationsOf, dispatchRouted, log }: FollowUpDependencies) => {
  /** Ids of the destinations at which the alert that this one follows was muted. */
  const mutedBefore = async ({ followUp }: Alert): Promise<ReadonlySet<string>> => {
    const first = followUp && (await ledger.read(followUp.of));
    const deliveries = first?.deliveries ?? [];
    return new Set(deliveries.filter(({ state }) => state === 'muted').map(({ destination }) => destination.id));
  };

  return {
    firstAlertOf: async (
      service: string,
      { protocol, itemId, txHash }: Pick<Watched, 'protocol' | 'itemId' | 'txHash'>,
    ): Promise<FirstAlert | undefined> => {
      const identified = { protocol, ...(txHash === undefined ? {} : { txHash }) };
      const id = alertId(service, 'inspections', itemId);
      const [own] = await createDistinguish(ledger)([{ id, source: 'inspections' as const, ...identified }]);
      const record = await ledger.read(own?.id ?? id);
      if (!record) return undefined;
      const destinations = record.deliveries.filter(isRecipient);
      return {
        alertId: record.alert.id,
        assessment: record.alert.type.replace(TYPE, ''),
        destinations: destinations.map(({ destination }) => destination.id),
      };
    },
    /** To those of the destinations that are still routed. No trigger is asked, as it let the first alert through. */
    followUp: async (alert: Alert, destinations: readonly string[]): Promise<void> => {
      const all = await destinationsOf(alert);
      const wanted = new Map(all.filter(({ id }) => destinations.includes(id)).map((one) => [one.id, one]));
      const routed = { alert, destinations: [...wanted.values()], mutedAt: await mutedBefore(alert) };
      const parcels = await dispatchRouted([routed]);
      const { service, protocol, itemId, type, followUp: change } = alert;
      log.info({ service, protocol, item: itemId, type, ...change, destinations: parcels }, 'follow-up');
    },
  };
};

interface RecheckJobDependencies extends FollowUpDependencies {
  config: RecheckConfig & { poll: Pick<Config['poll'], 'lookback' | 'overlap'> };
  store: RecheckStore;
  lateItems: LateItems;
  seen: Pick<Seen, 'unknown'>;
  metrics: Pick<Metrics, 'rechecks'>;
  failureLog: Pick<FailureLog, 'worked' | 'failed' | 'forget'>;
  log: Pick<Logger, 'info' | 'warn'>;
  serviceOf(name: string): Pick<Service, 'clock' | 'near' | 'lookUp'>;
}

const CONFIRM_MS = 60_000;

const subjectOf = (protocol: string): string => `recheck of ${protocol}`;

type WatchParts = Pick<RecheckJobDependencies, 'config' | 'serviceOf' | 'failureLog'> & {
  store: Pick<RecheckStore, 'note'>;
  log: Pick<Logger, 'warn'>;
};

/** Which inspections are read again: those that polls read, and the suspicious ones that polls do not ask for. */
export const createWatch = ({ config, store, serviceOf, failureLog, log }: WatchParts) => {
  const { assessments, secondLook: offsets } = config.alerts;
  const { lookback, overlap } = config.poll;
  const isOn = hasRecheck(config);
  /** Polls filter by assessment where they want only one, so suspicious inspections are fetched here. */
  const isUnread = assessments.length === 1 && assessments[0] !== 'suspecious';
  const isFull = new Set<string>();
  /** Up to when the suspicious inspections of a track are noted, by the service's clock. */
  const readUpTo = new Map<string, number>();

  const note = async (service: string, protocol: string, items: readonly Item[]): Promise<void> => {
    const now = serviceOf(service).clock.now();
    const due = items.flatMap((item) => firstRecheck(item, protocol, now, { offsets, assessments }) ?? []);
    const refused = await store.note(service, due);
    if (refused === 0 || isFull.has(service)) return;
    isFull.add(service);
    log.warn({ service, refused }, 'too many inspections to read again: some are not');
  };

  const readSuspicious = async ({ service, protocol }: Track, signal: AbortSignal): Promise<void> => {
    const { clock, near } = serviceOf(service);
    const key = `${service} ${protocol}`;
    const begun = clock.now();
    const since = (readUpTo.get(key) ?? begun - lookback) - overlap;
    for await (const { items } of near.inspections(protocol, since, signal)) await note(service, protocol, items);
    readUpTo.set(key, begun);
    failureLog.worked(service, subjectOf(protocol));
  };

  return {
    /** Watches what a poll has read. */
    note: async ({ service, source, protocols: [protocol = ''] }: Stream, items: readonly Item[]): Promise<void> => {
      if (isOn && source === 'inspections') await note(service, protocol, items);
    },
    /** Reads the suspicious ones that polls do not ask for; to be called after a sweep. Never throws. */
    readSuspicious: async (stream: Stream, signal: AbortSignal): Promise<void> => {
      const { service, source, protocols } = stream;
      const [protocol = ''] = protocols;
      if (!isOn || !isUnread || source !== 'inspections') return;
      await readSuspicious({ service, source, protocol }, signal).catch((error: unknown) => {
        if (!signal.aborted) failureLog.failed(service, subjectOf(protocol), error);
      });
    },
  };
};

/** Forwards as a poll would. */
const createForward = ({ lateItems, seen, ledger, log }: RecheckJobDependencies) => {
  /** A poll may have queued it meanwhile, or have found that no trigger asks for it. */
  const unknown: Unknown = async (track, alerts) => {
    const identities = alerts.map((alert) => identityOf(alert));
    const unseen = new Set((await seen.unknown(track, identities)).map(({ id }) => id));
    const records = await Promise.all(alerts.map(({ id }) => ledger.read(id)));
    return alerts.filter((alert, index) => unseen.has(identityOf(alert).id) && records[index] === undefined);
  };

  return async (service: string, protocol: string, item: Item): Promise<'forwarded' | 'known' | 'busy'> => {
    const ingested = await lateItems.ingest({ service, source: 'inspections', protocol }, [item], unknown);
    if (ingested === undefined) return 'busy';
    if (ingested.length === 0) return 'known';
    log.info({ service, protocol, item: item.itemId }, 'found by a recheck');
    return 'forwarded';
  };
};

export const createRecheckJob = (dependencies: RecheckJobDependencies) => {
  const { config, store, metrics, failureLog, serviceOf } = dependencies;
  const { secondLook: offsets, assessments } = config.alerts;
  const forward = createForward(dependencies);
  const watch = createWatch(dependencies);
  const run = createRecheck({
    store,
    settings: { offsets, assessments, confirmAfter: Math.min(CONFIRM_MS, ...offsets) },
    lookUp: (service, protocol, wanted, signal) => serviceOf(service).lookUp(protocol, wanted, signal),
    forward,
    ...createFollowUps(dependencies),
    onRechecked: (service, { protocol }, outcome) => {
      metrics.rechecks.inc({ service, outcome });
      failureLog.worked(service, subjectOf(protocol));
    },
    onFailed: (service, protocol, error) => failureLog.failed(service, subjectOf(protocol), error),
    onGivenUp: (service, protocol) => failureLog.forget(service, subjectOf(protocol)),
    clock: (service) => serviceOf(service).clock.now(),
  });
  return {
    ...{ ...watch, run, forward },
    /** Inspections of every assessment: polls that ask for one see none that has a word of its own for it. */
    seen: async (stream: Stream, items: readonly Item[]): Promise<void> => {
      await watch.note(stream, items);
      const [protocol = ''] = stream.protocols;
      const odd = items.filter((item) => hasUnknownWord(item) && isWanted(item, assessments));
      for (const item of odd) await forward(stream.service, protocol, item);
    },
  };
};
