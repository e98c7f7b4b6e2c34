/** What polling says to metrics, health and the log. */
import type { Logger } from 'pino';
import type { Source } from '../alert.ts';
import { getOrCreate } from '../bounded-map.ts';
import { messageOf, type ServiceBound, ServiceError } from '../errors.ts';
import type { Item, ItemPage, MalformedItem } from '../item.ts';
import { firstFew, listText, nameText } from '../text.ts';
import type { Conditions } from './conditions.ts';
import type { FailureLog } from './failure-log.ts';
import type { Health } from './health.ts';
import { assessmentLabel, type Metrics } from './metrics.ts';
import type { ProtocolValue } from './series.ts';

interface ReportedStream {
  service: string;
  source: Source;
  protocols: readonly string[];
}

interface ReportedPoll {
  /** `busy` and `held` asked the service nothing. */
  outcome: 'read' | 'busy' | 'held';
  items: number;
  alerts: number;
  sweep: boolean;
}

/** Names of protocols: what a listing changed. */
interface ReportedChange {
  added: readonly string[];
  removed: readonly string[];
  missing: readonly string[];
  unfinished?: ServiceError;
  malformed?: readonly (MalformedItem & { name: string })[];
}

type ReadFrom = Source | 'protocols';

interface PollReportDependencies {
  quarantine: {
    /** Keeps malformed items that it has not seen before, and gives those. */
    admit(service: string, source: ReadFrom, malformed: readonly MalformedItem[]): Promise<readonly MalformedItem[]>;
  };
  firstReads: {
    /** Gives the items that were not read before. */
    admit(service: string, source: Source, items: readonly Item[]): Promise<readonly Item[]>;
  };
  metrics: Metrics;
  health: Health;
  failureLog: FailureLog;
  conditions: Pick<Conditions, 'settle'>;
  /** So long a listing counts: then it was another daemon's turn. */
  listedForMs: number;
  log: Pick<Logger, 'debug' | 'info' | 'warn' | 'error' | 'isLevelEnabled'>;
}

/** A log line names at most this many protocols; a first listing may bring thousands. */
const NAMED = 20;
const named = (names: readonly string[]): string[] => firstFew(names, NAMED);

/** Protocols that are too large, of those that a sentence names. */
const MOST_LARGE = 5;

const KEY = 'the key';
/** Of a service that this daemon asks only whether it answers. */
const PROBE = 'any answer';
const LISTING = 'protocols';
/** A group of its own: when asset lists fail, the service is not down. */
const CONTEXT = 'context';
const assetsOf = (service: string): string => `assets at ${service}`;

const subjectOf = ({ source, protocols: [first = '', ...others] }: ReportedStream): string =>
  `${source} of ${first}${others.length === 0 ? '' : ` and ${others.length} more`}`;

const boundOf = (error: unknown): ServiceBound | undefined => (error instanceof ServiceError ? error.bound : undefined);

/** Counts what a bound on the service's answers has cut off. */
const countBound = ({ boundsReached }: Metrics, service: string, bound: ServiceBound | undefined): void => {
  if (bound !== undefined) boundsReached.inc({ service, bound });
};

/** The log shows this much of a malformed item, in UTF-16 units. */
const EXCERPT = 300;
/** Of one page or listing: each costs a write to Redis and a log line. The log gives only the number of the others. */
const MOST_MALFORMED = 100;

/** Keeps, counts and logs each malformed item once. */
const createMalformedReport =
  ({ quarantine, metrics, log }: PollReportDependencies) =>
  async (service: string, source: ReadFrom, malformed: readonly MalformedItem[]): Promise<void> => {
    const more = malformed.length - MOST_MALFORMED;
    if (more > 0) {
      countBound(metrics, service, 'malformed');
      log.error({ service, source, more }, 'more malformed items came together than are logged one by one');
    }
    const fresh = await quarantine.admit(service, source, malformed.slice(0, MOST_MALFORMED));
    for (const { problem, raw, bound } of fresh) {
      metrics.itemsMalformed.inc({ service, source });
      countBound(metrics, service, bound);
      log.error({ service, source, problem, item: JSON.stringify(raw).slice(0, EXCERPT) }, 'malformed item');
    }
  };

/** What was not polled for so long is another daemon's by now, or gone. */
const FORGOTTEN_AFTER_MS = 3_600_000;

/** How long the last poll of each stream took, of those that this daemon polls. */
const createPollDurations = () => {
  const latest = new Map<string, ProtocolValue & { at: number }>();
  /** Made once for a stream, as it is polled all the time. */
  const made = new WeakMap<ReportedStream, (ProtocolValue & { key: string; at: number })[]>();
  return {
    note: (stream: ReportedStream, durationMs: number): void => {
      const { service, source, protocols } = stream;
      const own = getOrCreate(made, stream, () =>
        protocols.map((protocol) => {
          const labels = { service, source, protocol };
          return { key: JSON.stringify(labels), labels, value: 0, at: 0 };
        }),
      );
      for (const one of own) {
        one.value = durationMs / 1000;
        one.at = performance.now();
        latest.set(one.key, one);
      }
    },
    list: (): ProtocolValue[] => {
      for (const [key, { at }] of latest) if (performance.now() - at > FORGOTTEN_AFTER_MS) latest.delete(key);
      return [...latest.values()];
    },
  };
};

/** Counts items that the service should not have given for this protocol, and says once which protocols they name. */
const createForeignReport = ({ metrics, log }: PollReportDependencies) => {
  const warned = new Set<string>();
  return ({ service, source, protocols: [asked = ''] }: ReportedStream, foreign: readonly Item[]): void => {
    metrics.itemsForeign.inc({ service, source }, foreign.length);
    if (warned.has(service)) return;
    warned.add(service);
    const line = { service, asked, named: named([...new Set(foreign.map(({ protocol }) => protocol))]) };
    log.warn(line, 'the service answers with inspections of other protocols; they are left out here');
  };
};

const isPartOf = (part: ReportedStream, whole: ReportedStream): boolean =>
  part.service === whole.service &&
  part.source === whole.source &&
  part.protocols.every((protocol) => whole.protocols.includes(protocol));

/** Which streams fail, or which parts of one. */
const createFailingStreams = ({ failureLog }: Pick<PollReportDependencies, 'failureLog'>) => {
  const failing = new Map<string, ReportedStream>();
  return {
    failed: (stream: ReportedStream, error: unknown): void => {
      const subject = subjectOf(stream);
      failing.set(`${stream.service} ${subject}`, stream);
      failureLog.failed(stream.service, subject, error);
    },
    /** It was read, and with it what had failed of it alone. */
    read: (stream: ReportedStream): void => {
      for (const [key, one] of failing) {
        if (!isPartOf(one, stream)) continue;
        failing.delete(key);
        failureLog.worked(one.service, subjectOf(one));
      }
    },
    /** This daemon reads only these of a service: what else failed, others read, or nobody. */
    retain: (service: string, streams: readonly ReportedStream[]): void => {
      for (const [key, one] of failing) {
        if (one.service !== service || streams.some((stream) => isPartOf(one, stream))) continue;
        failing.delete(key);
        failureLog.forget(service, subjectOf(one));
      }
    },
  };
};

/** What a listing of protocols, or of their assets, came to. */
const createListingReport = (
  { metrics, health, failureLog, conditions, listedForMs, log }: PollReportDependencies,
  answered: (service: string) => void,
) => {
  const sayPart = (service: string, { unfinished, malformed = [] }: ReportedChange): void => {
    const large = malformed.filter(({ bound }) => bound !== undefined);
    const named = large.map(
      ({ name, problem }) => `${name === '' ? 'one without a name' : nameText(name)} has ${problem}`,
    );
    const why = [
      ...(unfinished === undefined ? [] : [unfinished.message]),
      ...(named.length === 0 ? [] : [listText(named, MOST_LARGE)]),
    ];
    const details = { of: service, why: why.join('; '), lastsMs: listedForMs };
    const what = why.length === 0 ? undefined : `${service}: its protocols are listed in part`;
    conditions.settle('listing', what, details);
  };
  const sayChange = (service: string, { added, removed, missing }: ReportedChange): void => {
    if (added.length + removed.length + missing.length === 0) return;
    const change = {
      added: named(added),
      removed: named(removed),
      missing: named(missing),
    };
    log.info({ service, ...change }, 'protocols changed');
  };
  return {
    onListed: (service: string, change: ReportedChange): void => {
      answered(service);
      failureLog.worked(service, LISTING);
      sayPart(service, change);
      sayChange(service, change);
    },
    /** What was listed is read, so readiness is left to the polls. */
    onListUnfinished: (service: string, change: ReportedChange, error: ServiceError): void => {
      sayPart(service, change);
      sayChange(service, change);
      countBound(metrics, service, boundOf(error));
      const said = `listed in part, other protocols stay as they were known: ${error.message}`;
      failureLog.failed(service, LISTING, new Error(said));
    },
    onListFailed: (service: string, error: unknown): void => {
      metrics.serviceUp.set({ service }, 0);
      countBound(metrics, service, boundOf(error));
      health.fail(`service:${service}`, messageOf(error));
      failureLog.failed(service, LISTING, error);
    },
    onAssetsListed: (service: string): void => failureLog.worked(CONTEXT, assetsOf(service)),
    onAssetsFailed: (service: string, error: unknown): void => {
      countBound(metrics, service, boundOf(error));
      failureLog.failed(CONTEXT, assetsOf(service), error);
    },
  };
};

export const createPollReport = (dependencies: PollReportDependencies) => {
  const { firstReads, metrics, health, failureLog, log } = dependencies;
  const answered = (service: string): void => {
    metrics.serviceUp.set({ service }, 1);
    health.prove(`service:${service}`);
    for (const subject of [KEY, PROBE]) failureLog.worked(service, subject);
  };

  const onMalformed = createMalformedReport(dependencies);
  const sayForeign = createForeignReport(dependencies);
  const durations = createPollDurations();
  const streams = createFailingStreams(dependencies);

  return {
    pollDurations: durations.list,
    onListMalformed: (service: string, malformed: readonly MalformedItem[]): Promise<void> =>
      onMalformed(service, 'protocols', malformed),
    onPage: async (stream: ReportedStream, { items, malformed, foreign = [] }: ItemPage): Promise<void> => {
      const { service, source } = stream;
      if (foreign.length > 0) sayForeign(stream, foreign);
      for (const { assessment } of await firstReads.admit(service, source, items)) {
        metrics.items.inc({ service, source, assessment: assessmentLabel(assessment) });
      }
      await onMalformed(service, source, malformed);
    },
    onPolled: (stream: ReportedStream, { outcome, items, alerts, sweep }: ReportedPoll, durationMs: number): void => {
      const { service, source } = stream;
      metrics.polls.inc({ service, source, outcome });
      if (outcome !== 'read') return;
      metrics.pollDuration.observe({ service, source }, durationMs / 1000);
      durations.note(stream, durationMs);
      answered(service);
      streams.read(stream);
      if (alerts === 0 && !log.isLevelEnabled('debug')) return;
      const line = { service, subject: subjectOf(stream), read: items, alerts, sweep, durationMs };
      if (alerts > 0) log.info(line, 'found');
      else log.debug(line, 'polled');
    },
    /** Others poll it, so no poll of this daemon proves that it answers. */
    onProbed: answered,
    onProbeFailed: (service: string, error: unknown): void => {
      metrics.serviceUp.set({ service }, 0);
      failureLog.failed(service, PROBE, error);
    },
    onAssigned: streams.retain,
    onPollFailed: (stream: ReportedStream, error: unknown, isDown: boolean): void => {
      const { service, source } = stream;
      metrics.polls.inc({ service, source, outcome: 'failed' });
      countBound(metrics, service, boundOf(error));
      metrics.serviceUp.set({ service }, 0);
      if (isDown) health.fail(`service:${service}`, messageOf(error));
      streams.failed(stream, error);
    },
    /** `protocols` were not read for three intervals, of those that are `watched`. */
    onUnread: (service: string, protocols: readonly string[], watched: number): void => {
      metrics.unreadProtocols.set({ service }, protocols.length);
      const check = `protocols:${service}`;
      if (protocols.length === 0) health.forget(check);
      else health.fail(check, `${protocols.length} of ${watched} not read lately: ${named(protocols).join(', ')}`);
    },
    ...createListingReport(dependencies, answered),
    onRefused: (service: string, error: ServiceError): void => {
      metrics.serviceUp.set({ service }, 0);
      health.fail(`service:${service}`, `the key is refused, so none of its protocols is read: ${error.message}`);
      log.error({ service, err: error }, 'the key is refused, so none of its protocols is read');
      failureLog.failed(service, KEY, error);
    },
  };
};
