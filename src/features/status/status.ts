/** Puts the status report together from what is in Redis: the same for the page and for the `status` command. */
import { CHANNEL_KINDS, type Destination, SOURCES } from '../../alert.ts';
import { mapInChunks } from '../../chunks.ts';
import { type Condition, conditionText, needsSomebody, nextStepOf, rowOf } from '../../condition.ts';
import type { Config } from '../../config/schema.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { DestinationStatistics } from '../../ledger/destination-stats.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type {
  DestinationStatus,
  HeldStatus,
  ProtocolStatus,
  SourceStatus,
  StatusReport,
  TroubleStatus,
} from '../../ops/status.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import type { Cursor, Cursors } from '../../poll/cursor.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { iso } from '../../time.ts';
import { build } from '../../version.ts';
import { createUnacknowledged, type UnacknowledgedDependencies } from '../acknowledgement/unacknowledged.ts';
import { daemonStatus, missedOf } from '../conditions/daemons.ts';
import { remarkId } from '../conditions/known.ts';
import type { Knowing } from '../conditions/list.ts';
import type { HeldFor } from '../conditions/notes.ts';
import { createActiveMutes } from '../mutes/active.ts';
import type { MuteStore } from '../mutes/store.ts';
import { withName } from '../names/names.ts';

export interface StatusDependencies extends UnacknowledgedDependencies {
  config: Pick<Config, 'services' | 'alerts' | 'mutes' | 'channels' | 'ops'>;
  known: Knowing;
  cursors: Pick<Cursors, 'get'>;
  protocols(service: string): Promise<ReadonlyMap<string, CatalogEntry>>;
  /** Every destination that a protocol, the fallback or the watchdog leads to; some more than once. */
  routed(): readonly Destination[];
  /** What hangs on one token or mail server, one sentence each. */
  hanging(): string[];
  ledger: Pick<Ledger, 'waitingByDestination'>;
  dead: Pick<DeadLetters, 'byDestination'>;
  queues: Pick<ParcelQueues, 'counts'>;
  mutes: MuteStore;
  /** Epoch milliseconds; absent where no daemon is asked. */
  startedAt?: number;
  /** See `needsSomebody`. */
  limits?: { lastingMs: number } | undefined;
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

const heldStatus = ({ one: { destination, since, waiting }, protocols }: HeldFor): HeldStatus => {
  const { id, kind, label, name }: Destination & { name?: string } = destination;
  return { id, kind, label, name, protocols, since, waiting };
};

interface Counted {
  /** Those that were ever sent to. */
  known: readonly DestinationStatistics[];
  routed: readonly Destination[];
  /** Alerts by destination, those that are held among them. */
  waiting: Readonly<Record<string, number>>;
  held: readonly HeldFor[];
  dead: Awaited<ReturnType<DeadLetters['byDestination']>>;
}

/** What waits for a destination that nothing leads to any more, and that was never tried, has no more than its id. */
const unnamed = (waiting: Counted['waiting']) =>
  Object.keys(waiting).flatMap((id) => {
    const kind = CHANNEL_KINDS.find((one) => id.startsWith(`${one}-`));
    return kind === undefined ? [] : [{ id, kind, label: id }];
  });

/** Destinations that were or may be sent to, or have something that waits or is dead: each once. */
const destinationsOf = ({ known, routed, waiting, held, dead }: Counted): DestinationStatus[] => {
  const found = new Map<string, Omit<DestinationStatus, 'waiting' | 'dead'>>(known.map((one) => [one.id, one]));
  for (const { id, kind, label } of [
    ...routed,
    ...[...dead.values()].map(({ destination }) => destination),
    ...unnamed(waiting),
  ]) {
    if (!found.has(id)) found.set(id, { id, kind, label, delivered: 0 });
  }
  const heldFor = new Map(held.map(({ one }) => [one.destination.id, one.waiting]));
  return [...found.values()].map((one) => ({
    ...one,
    waiting: Math.max(0, (waiting[one.id] ?? 0) - (heldFor.get(one.id) ?? 0)),
    dead: dead.get(one.id)?.dead ?? 0,
  }));
};

const troubleStatus = ({ under: _, ...one }: Condition): TroubleStatus => {
  const id = remarkId(one);
  return { ...(id !== undefined && { id }), ...one, severity: rowOf(one.name).severity, todo: nextStepOf(one) };
};

/** The report as of now, at each call. Throws where Redis fails. */
export const createStatus = (dependencies: StatusDependencies) => {
  const { config, known, mutes, startedAt, limits, now } = dependencies;
  const activeMutes = createActiveMutes({ config, mutes, now });
  const findUnacknowledged = createUnacknowledged(dependencies);

  return async (): Promise<StatusReport> => {
    const protocols = (await Promise.all(config.services.map(({ name }) => protocolsOf(dependencies, name)))).flat();
    const { active } = await activeMutes.states();
    const { daemons, services, dead, removed, unwatched, held, named, ...others } = await known.all();
    const [deadByDestination, waiting, unacknowledged] = await Promise.all([
      dependencies.dead.byDestination(),
      dependencies.ledger.waitingByDestination(),
      findUnacknowledged(),
    ]);
    const missed = missedOf(daemons);
    const urgent = others.conditions.filter((one) => needsSomebody(one, now(), limits?.lastingMs));
    const needs = urgent.map(conditionText);
    const notes = others.conditions.filter(({ name }) => rowOf(name).severity === 'note');
    const remarks = notes.filter((one) => one.known === undefined);
    return {
      ...build(),
      ...(startedAt === undefined ? {} : { startedAt: iso(startedAt) }),
      now: iso(now()),
      daemons: daemons.map((daemon) => daemonStatus(daemon, missed, now())),
      services,
      protocols,
      unwatched: unwatched.map(({ service, name, reason }) => ({ service, name, reason })),
      destinations: destinationsOf({
        ...{ known: others.destinations, routed: dependencies.routed(), waiting, held, dead: deadByDestination },
      }).map((one) => withName(one, named)),
      hanging: dependencies.hanging(),
      held: held.map(heldStatus),
      mutes: active.toSorted((a, b) => a.until.localeCompare(b.until)),
      queues: await dependencies.queues.counts(),
      ...(unacknowledged && { unacknowledged }),
      dead,
      deadRemoved: removed,
      troubles: urgent.map(troubleStatus),
      remarks: remarks.map(troubleStatus),
      known: notes.filter((one) => one.known !== undefined).map(troubleStatus),
      problems: [...needs, ...remarks.map(conditionText)],
      needsSomebody: needs,
    };
  };
};
