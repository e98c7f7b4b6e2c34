/** Puts the status report together from what is in Redis: the same for the page and for the `status` command. */
import { CHANNEL_KINDS } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { DestinationStatistics, DestinationStats } from '../../ledger/destination-stats.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { DestinationStatus, HeldStatus, ServiceStatus, StatusReport } from '../../ops/status.ts';
import type { Quarantine } from '../../poll/quarantine.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { iso } from '../../time.ts';
import { nextStepOf, troubleText } from '../../trouble.ts';
import { version } from '../../version.ts';
import type { ApprovalStore } from '../approval/store.ts';
import { createActiveMutes } from '../mutes/active.ts';
import type { MuteStore } from '../mutes/store.ts';
import { type Names, NO_NAMES, withName } from '../names/show.ts';
import type { NameStore } from '../names/store.ts';
import { currentOutages } from '../outages/current.ts';
import type { OutageStore } from '../outages/store.ts';
import type { RouteReview } from '../routes/review.ts';
import { currentSilences } from '../silence/current.ts';
import type { HeardDaemon } from './daemons.ts';
import { daemonStatus, servicesAsKnown } from './known.ts';
import { type ListedDependencies, protocolsOf, unwatchedOf } from './listed.ts';
import { type HeldFor, type Problems, problemSentences } from './problems.ts';
import { needsSomebody, troublesOf } from './troubles.ts';

export interface StatusDependencies extends ListedDependencies {
  config: Pick<Config, 'services' | 'alerts' | 'mutes' | 'channels'>;
  ledger: Pick<Ledger, 'waitingByDestination'>;
  destinationStats: Pick<DestinationStats, 'list'>;
  dead: Pick<DeadLetters, 'count' | 'byDestination' | 'trimmed'>;
  quarantine: Pick<Quarantine, 'count'>;
  queues: Pick<ParcelQueues, 'counts' | 'waitingFor'>;
  held: Pick<ApprovalStore, 'list'>;
  /** What providers call destinations. Default: nobody knows. */
  names?: Pick<NameStore, 'all'>;
  /** Protocols of which nothing is inspected. */
  silent: Parameters<typeof currentSilences>[0];
  mutes: MuteStore;
  outageStore: OutageStore;
  /** What the daemons say of themselves, the one that was heard last first. */
  daemons(): Promise<readonly HeardDaemon[]>;
  review: Pick<RouteReview, 'review' | 'problemsTogether' | 'protocolsOf'>;
  /** Epoch milliseconds; absent where no daemon is asked. */
  startedAt?: number;
  /** See `needsSomebody`. */
  limits?: { lastingMs: number };
}

/** Destinations with held alerts, and the protocols that lead there. */
const heldOf = async ({ config, held, review, protocols }: StatusDependencies, named: Names): Promise<HeldFor[]> => {
  const all = (await held.list()).map((one) => ({ ...one, destination: withName(one.destination, named) }));
  // Held alerts may be for a channel that was listed since the last review.
  for (const { name } of all.length === 0 ? [] : config.services) review.review(name, await protocols(name));
  const listedBy = review.protocolsOf();
  return all.map((one) => ({ one, protocols: listedBy.get(one.destination.id) ?? [] }));
};

const heldStatus = ({ one: { destination, since, waiting }, protocols }: HeldFor): HeldStatus => {
  const { id, kind, label, name }: HeldFor['one']['destination'] & { name?: string } = destination;
  return { id, kind, label, ...(name === undefined ? {} : { name }), protocols, since, waiting };
};

/** Everything that was ever sent to, or that has dead deliveries without a try: those held for it were dropped. */
const destinationsOf = (
  known: readonly DestinationStatistics[],
  waiting: Readonly<Record<string, number>>,
  dead: Awaited<ReturnType<DeadLetters['byDestination']>>,
): DestinationStatus[] => {
  const ids = new Set(known.map(({ id }) => id));
  const untried = [...dead.values()].flatMap(({ destination: { id, kind, label } }) =>
    ids.has(id) ? [] : { id, kind, label, delivered: 0 },
  );
  return [...known, ...untried].map((one) => ({
    ...one,
    waiting: waiting[one.id] ?? 0,
    dead: dead.get(one.id)?.dead ?? 0,
  }));
};

/** Jobs that wait for channel kinds which the config does not set up. */
const leftJobs = async ({ config, queues }: StatusDependencies): Promise<Problems['left']> => {
  const kinds = CHANNEL_KINDS.filter((kind) => config.channels[kind] === undefined);
  return Promise.all(kinds.map(async (kind) => ({ kind, jobs: await queues.waitingFor(kind) })));
};

const slowOf = (services: readonly ServiceStatus[]): Problems['slow'] =>
  services.flatMap(({ name, neededRequestsPerSecond: needed }) => (needed === undefined ? [] : { name, needed }));

/** The report anew at each call. Throws where Redis fails. */
export const createStatus = (dependencies: StatusDependencies) => {
  const { config, mutes, outageStore, startedAt, limits, now } = dependencies;
  const activeMutes = createActiveMutes({ config, mutes, now });

  return async (): Promise<StatusReport> => {
    const protocols = (await Promise.all(config.services.map(({ name }) => protocolsOf(dependencies, name)))).flat();
    const unwatched = await unwatchedOf(dependencies);
    const named = (await dependencies.names?.all()) ?? NO_NAMES;
    const destinationStats = (await dependencies.destinationStats.list()).map((one) => withName(one, named));
    const held = await heldOf(dependencies, named);
    const { active } = await activeMutes.states();
    const daemons = await dependencies.daemons();
    const names = config.services.map(({ name }) => name);
    const services = servicesAsKnown(names, daemons);
    const [broken, left, quarantined, dead, deadByDestination, trimmed, waiting] = await Promise.all([
      currentOutages(outageStore, destinationStats),
      leftJobs(dependencies),
      dependencies.quarantine.count(),
      dependencies.dead.count(),
      dependencies.dead.byDestination(),
      dependencies.dead.trimmed(),
      dependencies.ledger.waitingByDestination(),
    ]);
    const others = problemSentences({
      unwatched: unwatched.filter(({ why }) => why !== 'excluded'),
      ...{ held, left, slow: slowOf(services), routes: dependencies.review.problemsTogether(), trimmed, quarantined },
    });
    const silent = await currentSilences(dependencies.silent, config.services);
    const troubles = troublesOf({ daemons, services, silent, broken, dead }).filter((one) =>
      needsSomebody(one, now(), limits?.lastingMs),
    );
    const urgent = troubles.map(troubleText);
    return {
      version,
      ...(startedAt === undefined ? {} : { startedAt: iso(startedAt) }),
      now: iso(now()),
      daemons: daemons.map((daemon) => daemonStatus(daemon, now())),
      services,
      protocols,
      unwatched: unwatched.map(({ service, name, reason }) => ({ service, name, reason })),
      destinations: destinationsOf(destinationStats, waiting, deadByDestination).map((one) => withName(one, named)),
      held: held.map(heldStatus),
      mutes: active.toSorted((a, b) => a.until.localeCompare(b.until)),
      queues: await dependencies.queues.counts(),
      dead,
      deadRemoved: trimmed,
      troubles: troubles.map(({ isAnnounced: _, ...trouble }) => ({ ...trouble, todo: nextStepOf(trouble) })),
      problems: [...urgent, ...others],
      needsSomebody: urgent,
    };
  };
};
