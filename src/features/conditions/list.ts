/**
 * The one list of what is wrong with Tocsin, from what all daemons and their Redis know: `status`, the page, metrics, the
 * heartbeat and the announcements are views of it.
 */
import { type Condition, conditionKey, foldConditions, rowOf } from '../../condition.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { DestinationStats } from '../../ledger/destination-stats.ts';
import { namesText } from '../../text.ts';
import { ageText } from '../../time.ts';
import { withName } from '../names/names.ts';
import {
  type DaemonReport,
  type DaemonReports,
  type HeardDaemon,
  isRunning,
  missedOf,
  servicesAsKnown,
} from './daemons.ts';
import { acceptanceBy, type KnownRemark, type KnownRemarks } from './known.ts';
import { type NotesDependencies, notesOf } from './notes.ts';
import { type CurrentOutage, currentOutages, type OutageStore } from './outages.ts';
import { type Announced, type AnnouncedStore, GROUPS, labelsOf } from './store.ts';

/** What their silence says of daemons. */
const daemonConditions = (daemons: readonly HeardDaemon[]): Condition[] => {
  const called = ({ host, pid }: HeardDaemon): string => `${host} (pid ${pid})`;
  const heard = ({ silentMs }: HeardDaemon): string => `was last heard ${ageText(silentMs)} ago`;
  if (daemons.some(isRunning)) {
    return missedOf(daemons).map((one) => ({
      ...{ name: 'member', of: one.id },
      what: `the daemon at ${called(one)} ended without saying so, or does not reach Redis: it ${heard(one)}`,
    }));
  }
  const [last] = daemons;
  const what =
    last === undefined
      ? 'no daemon runs, and none has reported lately'
      : `no daemon runs, or none reaches Redis: ${called(last)} ${heard(last)}`;
  return [{ name: 'daemon', of: '', what }];
};

/** What was announced of a service's protocols. */
type OfService = Pick<Announced, 'key' | 'since' | 'members' | 'why' | 'announcedTo'> & { service: string };

const FOUND = { silent: 'nothing is inspected of', misfits: 'strange inspections are listed for' } as const;

const foundConditions = (name: keyof typeof FOUND, all: readonly OfService[] = []): Condition[] =>
  all.map(({ service, key, since, members, why, announcedTo }) => ({
    ...{ name, of: key, under: service, since, why, announcedTo: labelsOf(announcedTo) },
    what: `${service}: ${FOUND[name]} ${namesText(members)}`,
  }));

/** What died at a destination that is broken now follows from that. */
const deadConditions = ({ dead, deadAt, broken }: Pick<KnownState, 'dead' | 'deadAt' | 'broken'>): Condition[] => {
  const caused = broken.map(({ id }) => ({ of: id, count: deadAt?.get(id)?.dead ?? 0 }));
  const others = dead - caused.reduce((sum, { count }) => sum + count, 0);
  return [...caused, { of: '', count: others }].flatMap(({ of, count }): Condition[] => {
    const what = `${count === 1 ? 'one delivery is' : `${count} deliveries are`} dead and kept: see tocsin dead list`;
    return count <= 0 ? [] : [{ name: 'dead', of, what, under: of }];
  });
};

/** What a daemon found itself, by its host where others need not have it. */
const foundBy = ({ host, conditions }: DaemonReport): Condition[] =>
  conditions.map((one) => {
    if (!rowOf(one.name).isOfOneDaemon) return one;
    const of = one.of === '' ? host : `${host} ${one.of}`;
    return { ...one, of, at: host, what: `at ${host}: ${one.what}` };
  });

interface KnownState {
  /** The one that was heard last first. */
  daemons: readonly HeardDaemon[];
  silent: readonly OfService[];
  misfits?: readonly OfService[];
  broken: readonly CurrentOutage[];
  /** Dead letters; and those that have a destination, by its id. */
  dead: number;
  deadAt?: ReadonlyMap<string, { dead: number }>;
  notes: readonly Condition[];
  /** Who has heard of conditions that are found by others, by their keys. */
  heard?: ReadonlyMap<string, string[]>;
  /** What somebody has marked as known. */
  known?: readonly KnownRemark[];
}

/** Each once, the worst first. */
export const conditionsOf = (state: KnownState): Condition[] => {
  const { daemons, silent, misfits, broken, notes, heard, known = [] } = state;
  const acceptanceOf = acceptanceBy(known);
  return foldConditions([
    ...daemonConditions(daemons),
    ...foundConditions('silent', silent),
    ...foundConditions('misfits', misfits),
    ...broken.map(({ condition }) => condition),
    ...deadConditions(state),
    ...daemons.filter(isRunning).flatMap(foundBy),
    ...notes,
  ]).map((one) => ({
    ...one,
    announcedTo: one.announcedTo ?? heard?.get(conditionKey(one)),
    known: acceptanceOf(one),
  }));
};

/** Who has heard of what the watchdog and the watch over the reads announced. */
const heardOf = (troubles: readonly Announced[], unread: readonly OfService[]): Map<string, string[]> =>
  new Map([
    ...troubles.flatMap((one) => one.members.map((key) => [key, labelsOf(one.announcedTo)] as const)),
    ...unread.map((one) => {
      const name = one.members.length === 0 ? 'service' : 'unread';
      return [conditionKey({ name, of: one.service }), labelsOf(one.announcedTo)] as const;
    }),
  ]);

export interface KnowingDependencies extends NotesDependencies {
  dead: Pick<DeadLetters, 'count' | 'trimmed' | 'byDestination'>;
  destinationStats: Pick<DestinationStats, 'list'>;
  outageStore: Pick<OutageStore, 'get'>;
  announced: Pick<AnnouncedStore, 'list'>;
  daemonReports: Pick<DaemonReports, 'list'>;
  knownRemarks: Pick<KnownRemarks, 'list'>;
  /** This daemon, as it knows itself now. Absent where a command asks. */
  self?(): DaemonReport;
  /** `ready` while it is connected. */
  redis: { status: string };
}

/** What the daemons say of themselves, the one that was heard last first. */
const daemonsOf = async ({ self, daemonReports }: KnowingDependencies): Promise<HeardDaemon[]> => {
  const own = self === undefined ? [] : [{ ...self(), silentMs: 0 }];
  return [...own, ...(await daemonReports.list()).filter(({ id }) => id !== own[0]?.id)];
};

/** What all know now, at each call. Throws where Redis fails. */
const createAll = (dependencies: KnowingDependencies) => async () => {
  const { config, dead, destinationStats, outageStore, announced, knownRemarks } = dependencies;
  const names = config.services.map(({ name }) => name);
  const [daemons, stats] = await Promise.all([daemonsOf(dependencies), destinationStats.list()]);
  const named = await dependencies.names.all();
  const destinations = stats.map((one) => withName(one, named));
  const ofServices = (group: (service: string) => string): Promise<OfService[][]> =>
    Promise.all(
      names.map(async (service) => (await announced.list(group(service))).map((one) => ({ ...one, service }))),
    );
  const state = {
    daemons,
    broken: await currentOutages(outageStore, destinations),
    silent: (await ofServices(GROUPS.silent)).flat(),
    misfits: (await ofServices(GROUPS.misfits)).flat(),
    heard: heardOf(await announced.list(GROUPS.watchdog), (await ofServices(GROUPS.unread)).flat()),
    dead: await dead.count(),
    known: await knownRemarks.list(),
  };
  const deadAt = state.dead > 0 && state.broken.length > 0 ? await dead.byDestination() : new Map<string, never>();
  const services = servicesAsKnown(names, daemons);
  const { notes, ...noted } = await notesOf(dependencies, services);
  return { ...state, ...noted, named, destinations, services, conditions: conditionsOf({ ...state, deadAt, notes }) };
};

export type Knowing = ReturnType<typeof createKnowing>;

export const isSilent = (conditions: readonly Condition[]): boolean => conditions.some(({ name }) => name === 'redis');

export const createKnowing = (dependencies: KnowingDependencies) => {
  const { self, redis } = dependencies;
  const all = createAll(dependencies);
  /** What this daemon knows without Redis: where that is silent, it is all that is known. */
  const own = (): Condition[] => {
    const found = self === undefined ? [] : foundBy(self());
    if (redis.status === 'ready' || isSilent(found)) return foldConditions(found);
    return foldConditions([{ name: 'redis', of: '', what: 'Redis does not answer' }, ...found]);
  };
  const conditions = async (): Promise<readonly Condition[]> => (isSilent(own()) ? own() : (await all()).conditions);
  return { own, all, conditions };
};
