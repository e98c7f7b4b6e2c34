/** Reads the alerts of a period, by the same requests, conditions and identities as the daemon. */
import { type Alert, SOURCES, type Source } from '../../alert.ts';
import { didYouMean } from '../../config/problems.ts';
import type { Config } from '../../config/schema.ts';
import { isOfOneProtocol, messageOf, UnavailableError, UsageError } from '../../errors.ts';
import type { ListedProtocol } from '../../item.ts';
import { createNameFilter } from '../../poll/catalog.ts';
import type { Track } from '../../poll/cursor.ts';
import { isWanted, ownItems, toAlert } from '../../poll/ingest.ts';
import { pagesOf } from '../../service/feed.ts';
import { listProtocols } from '../../service/listing.ts';
import { openServices } from '../../service/open.ts';
import { plainName } from '../../text.ts';

/** When the service wrote an item, in epoch milliseconds: from `since` on, before `until`. */
export interface Period {
  since: number;
  until: number;
}

/** One protocol at one key. */
export interface HistoryProtocol extends ListedProtocol {
  service: string;
}

/** A source of a protocol that the service would not give. */
export interface Unread extends Track {
  problem: string;
}

export interface HistoryReading {
  period: Period;
  /**
   * Alerts of one protocol's source, some at a time, each once; of several protocols at the same time. Notifications come
   * when all inspections have come, which may cover them.
   */
  onAlerts(protocol: HistoryProtocol, alerts: Alert[]): Promise<void>;
  /** Called when a protocol's source was read to its end, with how many are done. */
  onRead?(protocol: HistoryProtocol, source: Source, done: number, of: number): void;
}

type Task = { protocol: HistoryProtocol; source: Source };

/** Works on all in order, `width` at a time. The first failure ends it and is thrown. */
const inParallel = async <T>(
  all: readonly T[],
  width: number,
  signal: AbortSignal,
  each: (one: T, signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const rest = all.values();
  const work = async (): Promise<void> => {
    for (const one of rest) {
      if (either.aborted) throw new UnavailableError('stopped before everything was read');
      await each(one, either);
    }
  };
  const workers = Array.from({ length: Math.min(width, all.length) }, () =>
    work().catch((error: unknown) => failed.abort(error)),
  );
  await Promise.all(workers);
  if (failed.signal.aborted) throw failed.signal.reason;
};

/** Reads one protocol's source to the end of the period, or to the end of what the service gives. */
const createReadOne = (config: Config, services: ReturnType<typeof openServices>) => {
  const { lookback } = config.poll;

  const pagesFrom = ({ protocol: { service, name }, source }: Task, since: number, signal: AbortSignal) => {
    const feed = services.get(service)?.feed;
    if (feed === undefined) throw new Error(`the config has no service '${service}'`);
    return pagesOf(feed, { source, protocols: [name] }, since, signal, true);
  };

  /** Reads a little more than the period: the service may filter and sort by another date than an item's own. */
  return async (task: Task, { period, onAlerts }: HistoryReading, signal: AbortSignal): Promise<void> => {
    const { protocol, source } = task;
    const track = { service: protocol.service, source, protocol: protocol.name };
    const seen = new Set<string>();
    const isNew = ({ id, at }: Alert): boolean => {
      const isInPeriod = Date.parse(at) >= period.since && Date.parse(at) < period.until;
      return isInPeriod && seen.size < seen.add(id).size;
    };
    for await (const { items, settledBefore = 0 } of pagesFrom(task, period.since - lookback, signal)) {
      const alerts = ownItems(items, track)
        .filter((item) => isWanted(item, config.alerts.assessments))
        .map((item) => toAlert(item, protocol.service, protocol.name, Date.now()))
        .filter(isNew);
      if (alerts.length > 0) await onAlerts(protocol, alerts);
      if (settledBefore > period.until + lookback) return;
    }
  };
};

/** Opens connections to the services of the config, and to nothing else. */
export const openHistory = (config: Config, signal: AbortSignal) => {
  /** By service, as far as it was listed here. */
  const listed = new Map<string, ReadonlySet<string>>();
  const services = openServices(config, Date.now, { listed: async (service) => listed.get(service) ?? new Set() });
  const isIncluded = createNameFilter(config.protocols.include, config.protocols.exclude);
  const readOne = createReadOne(config, services);

  return {
    /** Those that the config includes, by name where one is given. Throws a `UsageError` where there is none. */
    protocols: async (name?: string): Promise<HistoryProtocol[]> => {
      const lists = await Promise.all(
        [...services].map(async ([service, opened]) => ({ service, ...(await listProtocols(opened, signal)) })),
      );
      for (const { service, protocols } of lists)
        listed.set(service, new Set(protocols.map((protocol) => plainName(protocol.name))));
      const found = lists
        .flatMap(({ service, protocols }) => protocols.map((protocol) => ({ service, ...protocol })))
        .filter((each) => isIncluded(each.name) && (name === undefined || each.name === name));
      const unfinished = lists.find((list) => list.unfinished !== undefined)?.unfinished;
      // Half of the protocols must not pass for all of them.
      if (unfinished !== undefined && (name === undefined || found.length === 0)) throw unfinished;
      if (found.length > 0) return found;
      const what = name === undefined ? 'a protocol' : `a protocol '${name}'`;
      const names = lists.flatMap(({ protocols }) => protocols.map((protocol) => protocol.name));
      const near = name === undefined ? '' : didYouMean(name, names.filter(isIncluded));
      throw new UsageError(`no service lists ${what} that the config includes${near}`);
    },
    /** Gives what could not be read; throws a `ServiceError` where a service as a whole does not answer. */
    read: async (protocols: readonly HistoryProtocol[], reading: HistoryReading): Promise<Unread[]> => {
      const { sources } = config.alerts;
      const ofAll = protocols.length * sources.length;
      const unread: Unread[] = [];
      let done = 0;
      const readTask = async (task: Task, either: AbortSignal): Promise<void> => {
        await readOne(task, reading, either).catch((error: unknown) => {
          if (!isOfOneProtocol(error)) throw error;
          const { protocol, source } = task;
          unread.push({ service: protocol.service, protocol: protocol.name, source, problem: messageOf(error) });
        });
        done += 1;
        reading.onRead?.(task.protocol, task.source, done, ofAll);
      };
      for (const source of SOURCES.filter((one) => sources.includes(one))) {
        const tasks = protocols.map((protocol) => ({ protocol, source }));
        await inParallel(tasks, config.poll.concurrency, signal, readTask);
      }
      return unread;
    },
    close: async (): Promise<void> => {
      await Promise.all([...services.values()].map(({ client }) => client.close()));
    },
  };
};
