/**
 * The one list of what is wrong with Tocsin, from what all daemons and their Redis know: `status`, the page, metrics, the
 * heartbeat and the announcements are views of it.
 */
import { type Condition, foldConditions, rowOf } from '../../condition.ts';
import type { Config } from '../../config/schema.ts';
import { senderId } from '../../item.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { DestinationStats } from '../../ledger/destination-stats.ts';
import { listText } from '../../text.ts';
import { ageText } from '../../time.ts';
import { type CurrentOutage, currentOutages, type OutageStore } from '../broken-destinations/store.ts';
import { type NameStore, withName } from '../names/names.ts';
import { type CurrentSilence, currentSilences } from '../silence/check.ts';
import { type DaemonReport, type DaemonReports, type HeardDaemon, isRunning, servicesAsKnown } from './daemons.ts';
import { type NotesDependencies, notesOf } from './notes.ts';

const daemonCondition = (daemons: readonly HeardDaemon[]): Condition[] => {
  if (daemons.some(isRunning)) return [];
  const [last] = daemons;
  const what =
    last === undefined
      ? 'no daemon runs, and none has reported lately'
      : `no daemon runs, or none reaches Redis: ${last.host} (pid ${last.pid}) was last heard ${ageText(last.silentMs)} ago`;
  return [{ name: 'daemon', of: '', what }];
};

const silentCondition = ({ service, protocols, since }: CurrentSilence): Condition => ({
  ...{ name: 'silent', of: `${service} ${since}`, under: service, since },
  what: `${service}: nothing is inspected of ${listText(protocols)}`,
});

const outageCondition = ({ id, kind, name, since, message, todo, announcedTo }: CurrentOutage): Condition => {
  const own = todo === undefined ? {} : { todo };
  const facts = { what: `${name} takes no alerts`, why: message, since, announcedTo, ...own };
  return id === senderId(kind)
    ? { name: 'channel', of: kind, ...facts }
    : { name: 'destination', of: id, under: kind, ...facts };
};

const deadCondition = (dead: number): Condition[] => {
  if (dead === 0) return [];
  const what = `${dead === 1 ? 'one delivery is' : `${dead} deliveries are`} dead and kept: see tocsin dead list`;
  return [{ name: 'dead', of: '', what }];
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
  silent: readonly CurrentSilence[];
  broken: readonly CurrentOutage[];
  /** Dead letters. */
  dead: number;
  notes: readonly Condition[];
}

/** Each once, the worst first. */
export const conditionsOf = ({ daemons, silent, broken, dead, notes }: KnownState): Condition[] =>
  foldConditions([
    ...daemonCondition(daemons),
    ...silent.map(silentCondition),
    ...broken.map(outageCondition),
    ...deadCondition(dead),
    ...daemons.filter(isRunning).flatMap(foundBy),
    ...notes,
  ]);

export interface KnowingDependencies extends NotesDependencies {
  config: Pick<Config, 'services' | 'channels'>;
  dead: Pick<DeadLetters, 'count' | 'trimmed'>;
  destinationStats: Pick<DestinationStats, 'list'>;
  names: Pick<NameStore, 'all'>;
  outageStore: Pick<OutageStore, 'get'>;
  /** Protocols of which nothing is inspected. */
  silent: Parameters<typeof currentSilences>[0];
  daemonReports: Pick<DaemonReports, 'list'>;
  /** This daemon, as it knows itself now. Absent where a command asks. */
  self?(): DaemonReport;
  /** `ready` while it is connected. */
  redis: { status: string };
}

/** What this daemon knows without Redis: where that is silent, it is all that is known. */
const createOwn =
  ({ self, redis }: Pick<KnowingDependencies, 'self' | 'redis'>) =>
  (): Condition[] => {
    const found = self === undefined ? [] : foundBy(self());
    const isAway = redis.status !== 'ready' && !found.some(({ name }) => name === 'redis');
    return foldConditions(isAway ? [{ name: 'redis', of: '', what: 'Redis does not answer' }, ...found] : found);
  };

/** What the daemons say of themselves, the one that was heard last first. */
const daemonsOf = async ({ self, daemonReports }: KnowingDependencies): Promise<HeardDaemon[]> => {
  const own = self === undefined ? [] : [{ ...self(), silentMs: 0 }];
  return [...own, ...(await daemonReports.list()).filter(({ id }) => id !== own[0]?.id)];
};

/** What all know now, at each call. Throws where Redis fails. */
const createAll = (dependencies: KnowingDependencies) => async () => {
  const { config, dead, destinationStats, names, outageStore, silent } = dependencies;
  const [daemons, stats, named] = await Promise.all([daemonsOf(dependencies), destinationStats.list(), names.all()]);
  const destinations = stats.map((one) => withName(one, named));
  const state = {
    daemons,
    broken: await currentOutages(outageStore, destinations),
    silent: await currentSilences(silent, config.services),
    dead: await dead.count(),
  };
  const services = servicesAsKnown(
    config.services.map(({ name }) => name),
    daemons,
  );
  const { notes, ...noted } = await notesOf(dependencies, services);
  return { ...state, ...noted, named, destinations, services, conditions: conditionsOf({ ...state, notes }) };
};

type Known = Awaited<ReturnType<ReturnType<typeof createAll>>>;

export interface Knowing {
  own(): Condition[];
  all(): Promise<Known>;
  /** Of all; where Redis is silent, what this daemon knows. */
  conditions(): Promise<readonly Condition[]>;
}

export const isSilent = (conditions: readonly Condition[]): boolean => conditions.some(({ name }) => name === 'redis');

export const createKnowing = (dependencies: KnowingDependencies): Knowing => {
  const [own, all] = [createOwn(dependencies), createAll(dependencies)];
  return { own, all, conditions: async () => (isSilent(own()) ? own() : (await all()).conditions) };
};
