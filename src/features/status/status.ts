/** Puts the status report together from what is in Redis: the same for the page and for the `status` command. */
import { CHANNEL_KINDS, SOURCES } from '../../alert.ts';
import { mapInChunks } from '../../chunks.ts';
import type { Config } from '../../config/schema.ts';
import { type DeadLetters, MOST_DEAD } from '../../ledger/dead-letters.ts';
import type { DestinationStatistics, DestinationStats } from '../../ledger/destination-stats.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { nameOf } from '../../ledger/record.ts';
import type {
  DestinationStatus,
  HeldStatus,
  ProtocolStatus,
  ServiceStatus,
  SourceStatus,
  StatusReport,
  UnwatchedStatus,
} from '../../ops/status.ts';
import type { CatalogEntry, Unwatched } from '../../poll/catalog.ts';
import type { Cursor, Cursors } from '../../poll/cursor.ts';
import type { Quarantine } from '../../poll/seen.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { counted, listText } from '../../text.ts';
import { iso } from '../../time.ts';
import { nextStepOf, troubleText } from '../../trouble.ts';
import { version } from '../../version.ts';
import { type ApprovalStore, type HeldDestination, HOLD_BOUNDS } from '../approval/store.ts';
import { createActiveMutes } from '../mutes/active.ts';
import type { MuteStore } from '../mutes/store.ts';
import { type NameStore, type Names, withName } from '../names/names.ts';
import type { RouteReview } from '../routes/review.ts';
import { daemonStatus } from './daemons.ts';
import { type StateDependencies, stateOf } from './troubles.ts';

export interface StatusDependencies extends StateDependencies {
  config: Pick<Config, 'services' | 'alerts' | 'mutes' | 'channels'>;
  cursors: Pick<Cursors, 'get'>;
  protocols(service: string): Promise<ReadonlyMap<string, CatalogEntry>>;
  unwatched(service: string): Promise<readonly Unwatched[]>;
  ledger: Pick<Ledger, 'waitingByDestination'>;
  destinationStats: Pick<DestinationStats, 'list'>;
  dead: Pick<DeadLetters, 'count' | 'byDestination' | 'trimmed'>;
  quarantine: Pick<Quarantine, 'count'>;
  queues: Pick<ParcelQueues, 'counts' | 'waitingFor'>;
  held: Pick<ApprovalStore, 'list'>;
  /** What providers call destinations. */
  names: Pick<NameStore, 'all'>;
  mutes: MuteStore;
  review: Pick<RouteReview, 'review' | 'problemsTogether' | 'protocolsOf'>;
  /** Epoch milliseconds; absent where no daemon is asked. */
  startedAt?: number;
}

const sourceStatus = (source: SourceStatus['source'], cursor: Cursor | undefined, now: number): SourceStatus => {
  if (!cursor) return { source };
  const { position, polledAt } = cursor;
  if (polledAt === undefined) return { source, cursor: iso(position) };
  const lagSeconds = Math.max(0, Math.round((now - polledAt) / 1000));
  return { source, cursor: iso(position), lastPoll: iso(polledAt), lagSeconds };
};

/** There may be thousands: all of them at once would keep others from their turn. */
const READ_AT_ONCE = 100;

/** How far the protocols of a service are read. */
const protocolsOf = async (
  { config, cursors, protocols, now }: StatusDependencies,
  service: string,
): Promise<ProtocolStatus[]> => {
  const sources = SOURCES.filter((source) => config.alerts.sources.includes(source));
  const statusOf = async ({ name, channels }: CatalogEntry): Promise<ProtocolStatus> => {
    const found = await cursors.get(sources.map((source) => ({ service, source, protocol: name })));
    return {
      service,
      name,
      channels: [...new Set(channels.map((channel) => channel.name))],
      sources: sources.map((source, index) => sourceStatus(source, found[index], now())),
    };
  };
  return mapInChunks([...(await protocols(service)).values()], READ_AT_ONCE, statusOf);
};

const REASONS: Readonly<Record<Unwatched['why'], string>> = {
  excluded: 'left out by protocols.include and protocols.exclude',
  unreadable: 'it cannot be read as it is listed',
  unaskable: 'its inspections are not read, as no URL can carry its name',
};

/** What a service lists and nobody reads. */
const unwatchedOf = async ({ config, unwatched }: StatusDependencies) => {
  const found: (UnwatchedStatus & Pick<Unwatched, 'why'>)[] = [];
  for (const { name: service } of config.services) {
    for (const { name, why, problem } of await unwatched(service)) {
      const reason = `${REASONS[why]}${problem === undefined ? '' : `: ${problem}`}`;
      found.push({ service, name: name === '' ? '(no name)' : name, why, reason });
    }
  }
  return found;
};

/** Alerts that are held for a destination, and the names of the protocols that lead there. */
interface HeldFor {
  one: HeldDestination;
  protocols: readonly string[];
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

const heldSentence = ({ one: { destination, waiting, isRevoked }, protocols }: HeldFor): string => {
  const listed = protocols.length === 0 ? '' : ` (for ${listText(protocols)})`;
  const state = `${isRevoked ? 'was revoked' : 'is new'} and waits for approval`;
  const most = waiting >= HOLD_BOUNDS.alerts ? ', which is the most: newer ones are dead' : '';
  const count = `${counted(waiting, 'alert')}${most}`;
  return `${nameOf(destination)}${listed} ${state} with ${count}: tocsin destinations approve ${destination.id}`;
};

const heldSentences = (held: readonly HeldFor[]): string[] => [
  ...held.map(heldSentence),
  ...(held.length >= HOLD_BOUNDS.destinations
    ? [`${held.length} destinations wait for approval, which is the most: alerts for others are dead`]
    : []),
];

/** Jobs that wait for channel kinds which the config does not set up, see `features/housekeeping`. */
const leftSentences = async ({ config, queues }: StatusDependencies): Promise<string[]> => {
  const kinds = CHANNEL_KINDS.filter((kind) => config.channels[kind] === undefined);
  const left = await Promise.all(kinds.map(async (kind) => ({ kind, jobs: await queues.waitingFor(kind) })));
  return left.flatMap(({ kind, jobs }) =>
    jobs === 0
      ? []
      : `${counted(jobs, 'job waits', 'jobs wait')} for ${kind}, which the config does not set up: what no daemon sends within a day is dead`,
  );
};

/** Services whose protocols wait too long for the next poll. */
const slowSentences = (services: readonly ServiceStatus[]): string[] =>
  services.flatMap(({ name, neededRequestsPerSecond: needed }) =>
    needed === undefined
      ? []
      : `${name}: its protocols are read less than every 15 seconds; poll.requestsPerSecond: ${needed} would suffice`,
  );

/** Dead letters that were removed because there were too many. */
const trimmedSentences = (trimmed: number): string[] =>
  trimmed === 0
    ? []
    : [
        `${counted(trimmed, 'dead delivery was', 'dead deliveries were')} removed lately, as ${MOST_DEAD} are kept at most: tocsin replay sends their items again`,
      ];

/** The report as of now, at each call. Throws where Redis fails. */
export const createStatus = (dependencies: StatusDependencies) => {
  const { config, mutes, startedAt, now } = dependencies;
  const activeMutes = createActiveMutes({ config, mutes, now });

  return async (): Promise<StatusReport> => {
    const protocols = (await Promise.all(config.services.map(({ name }) => protocolsOf(dependencies, name)))).flat();
    const unwatched = await unwatchedOf(dependencies);
    const named = await dependencies.names.all();
    const destinationStats = (await dependencies.destinationStats.list()).map((one) => withName(one, named));
    const held = await heldOf(dependencies, named);
    const { active } = await activeMutes.states();
    const { daemons, services, dead, troubles } = await stateOf(dependencies, destinationStats);
    const [left, quarantined, deadByDestination, trimmed, waiting] = await Promise.all([
      leftSentences(dependencies),
      dependencies.quarantine.count(),
      dependencies.dead.byDestination(),
      dependencies.dead.trimmed(),
      dependencies.ledger.waitingByDestination(),
    ]);
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
      problems: [
        ...urgent,
        ...unwatched.filter(({ why }) => why !== 'excluded').map(({ name, reason }) => `${name}: ${reason}`),
        ...heldSentences(held),
        ...left,
        ...slowSentences(services),
        ...dependencies.review.problemsTogether(),
        ...trimmedSentences(trimmed),
        ...(quarantined === 0 ? [] : [`${counted(quarantined, 'item')} of the service could not be understood`]),
      ],
      needsSomebody: urgent,
    };
  };
};
