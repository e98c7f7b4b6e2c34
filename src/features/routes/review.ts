/** Looks over where protocols lead: entries that lead nowhere, and destinations that nothing leads to any more. */
import type { Logger } from 'pino';
import { type Destination, onceEach } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import type { AddressChanges } from '../../deliver/destinations.ts';
import { contentId } from '../../item.ts';
import type { DestinationStats } from '../../ledger/destination-stats.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { RETENTION_SECONDS } from '../../ledger/record.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import type { BatchStore } from '../../queue/batch-store.ts';
import { namesText, nameText } from '../../text.ts';
import { iso } from '../../time.ts';
import { channelsOf, type RouteSettings, routeEntries, unsetKinds } from './routes.ts';

interface GoneDependencies {
  destinationStats: Pick<DestinationStats, 'list' | 'forget'>;
  batches: Pick<BatchStore, 'forget'>;
  addressChanges: Pick<AddressChanges, 'forget'>;
  outageStore: { forget(id: Destination['id']): Promise<void> };
  ledger: Pick<Ledger, 'waitingByDestination'>;
  /** All that the services' protocols and the fallback lead to; undefined while that is not known. */
  routed(): Promise<readonly Pick<Destination, 'id'>[] | undefined>;
  /** Called with the destinations that remain. All others lose their metrics. */
  keepSeries(left: ReadonlySet<Destination['id']>): Promise<void>;
  log: Pick<Logger, 'info'>;
  now(): number;
}

const LOOK_EVERY_MS = 3_600_000;

/**
 * Forgets destinations that are gone: nothing leads there any more, nothing waits for them, and nothing was sent there for as
 * long as the ledger keeps alerts. What operators decided about them stays: approvals, and that a 410 is obeyed. The returned
 * function may be called often: it acts once an hour.
 */
export const createGoneDestinations = (dependencies: GoneDependencies): (() => Promise<void>) => {
  const { destinationStats, batches, addressChanges, outageStore, ledger, routed, keepSeries, log, now } = dependencies;
  let lookedAt = Number.NEGATIVE_INFINITY;

  const look = async (left: Set<string>): Promise<void> => {
    const waiting = await ledger.waitingByDestination();
    const before = iso(now() - RETENTION_SECONDS * 1000);
    for (const { id, label } of await destinationStats.list()) {
      const isNeeded = left.has(id) || (waiting[id] ?? 0) > 0;
      if (isNeeded || !(await destinationStats.forget(id, before))) {
        left.add(id);
        continue;
      }
      await batches.forget(id);
      await addressChanges.forget(id);
      await outageStore.forget(id);
      log.info({ destination: id, to: [label] }, 'forgot a destination that is gone');
    }
    await keepSeries(left);
  };

  return async () => {
    if (Math.abs(now() - lookedAt) < LOOK_EVERY_MS) return;
    const destinations = await routed();
    if (destinations === undefined) return;
    await look(new Set(destinations.map(({ id }) => id)));
    lookedAt = now();
  };
};

export type RouteReview = ReturnType<typeof createRouteReview>;

interface Reviewed {
  service: string;
  protocol: string;
  problems: string[];
  /** Kinds that the config does not set up. */
  unset: string[];
  destinations: Destination[];
}

/** The same problem of some protocols. */
interface SharedProblem {
  /** One sentence for all of them. */
  text: string;
  /** Distinguishes it from others, also of protocols that the sentence only counts. */
  id: string;
  /** Of channels that lead nowhere, and protocols without any. */
  entries: number;
}

const NO_DESTINATION = 'a channel leads nowhere';

/**
 * Checks every protocol's channels at each listing, and logs once, by name, each channel entry that leads nowhere.
 * `others`: problems of entries that are no protocol's, such as the fallback's.
 */
export const createRouteReview = (
  settings: RouteSettings,
  log: Pick<Logger, 'warn'>,
  others: readonly string[] = [],
) => {
  for (const problem of others) log.warn({ problem }, NO_DESTINATION);
  const byService = new Map<string, { protocols: object; found: Reviewed[] }>();
  const said = new Set<string>();
  let revision = 0;
  const sentences = ({ protocol, problems }: Reviewed): string[] =>
    problems.map((one) => `${nameText(protocol)}: ${one}`);
  const reviewed = (): Reviewed[] => [...byService.values()].flatMap(({ found }) => found);

  const reviewOf = (service: string, protocol: Pick<CatalogEntry, 'name' | 'channels'>): Reviewed => {
    const entries = channelsOf(protocol.name, protocol, settings.overrides);
    const { problems, destinations } = routeEntries(entries, settings);
    const unset = unsetKinds(entries, settings);
    const all = entries.length === 0 ? ['it has no channels, so its alerts reach nobody'] : problems;
    return { service, protocol: protocol.name, problems: all, unset, destinations };
  };

  return {
    /** Takes a service's protocols; logs the problems that are new. The same map is the same protocols. */
    review: (service: string, protocols: ReadonlyMap<string, Pick<CatalogEntry, 'name' | 'channels'>>): void => {
      if (byService.get(service)?.protocols === protocols) return;
      const found = [...protocols.values()].map((protocol) => reviewOf(service, protocol));
      const problems = found.flatMap(sentences);
      byService.set(service, { protocols, found });
      revision += 1;
      for (const problem of problems.filter((each) => !said.has(each))) {
        said.add(problem);
        log.warn({ service, problem }, NO_DESTINATION);
      }
    },
    /** Grows with each review that found other protocols: what was made of an older one is outdated. */
    revision: (): number => revision,
    /** Every entry that leads nowhere, one sentence each. */
    problems: (): string[] => [...others, ...reviewed().flatMap(sentences)],
    /** The same for people. */
    problemsTogether: (): SharedProblem[] => {
      const all = reviewed().flatMap(({ problems, ...one }) => problems.map((problem) => ({ ...one, problem })));
      const together = [...Map.groupBy(all, ({ problem }) => problem)].map(([problem, same]): SharedProblem => {
        const sorted = same.toSorted((a, b) => a.protocol.localeCompare(b.protocol));
        const id = contentId(problem, ...sorted.flatMap(({ service, protocol }) => [service, protocol]));
        return { text: `${namesText(sorted.map(({ protocol }) => protocol))}: ${problem}`, id, entries: same.length };
      });
      return [...others.map((text) => ({ text, id: contentId(text), entries: 1 })), ...together];
    },
    /** By kind, how many protocols have channels of it that the config does not set up. */
    unset: (): ReadonlyMap<string, number> => {
      const counts = new Map<string, number>();
      for (const kind of reviewed().flatMap(({ unset }) => unset)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
      return counts;
    },
    /** Every destination of every protocol, once. */
    destinations: (): Destination[] => onceEach(reviewed().flatMap(({ destinations }) => destinations)),
    /** Names of the protocols that lead to a destination, by its id. */
    protocolsOf: (): ReadonlyMap<Destination['id'], readonly string[]> => {
      const found = new Map<string, Set<string>>();
      for (const { protocol, destinations } of reviewed()) {
        for (const { id } of destinations) getOrCreate(found, id, () => new Set()).add(protocol);
      }
      return new Map([...found].map(([id, protocols]) => [id, [...protocols]]));
    },
  };
};
