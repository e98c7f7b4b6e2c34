/**
 * The one list of what is wrong with Tocsin, from what all daemons and their Redis know: `status`, the page, metrics and
 * the watchdog take it.
 */
import { CHANNEL_KINDS } from '../../alert.ts';
import type { Config } from '../../config/schema.ts';
import { senderId } from '../../item.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { ServiceStatus } from '../../ops/status.ts';
import { listText } from '../../text.ts';
import { ageText } from '../../time.ts';
import { isOfOneDaemon, type Trouble, type TroubleName, troubleKey } from '../../trouble.ts';
import { type CurrentOutage, currentOutages, type OutageStore } from '../broken-destinations/store.ts';
import { type CurrentSilence, currentSilences } from '../silence/check.ts';
import { type HeardDaemon, isRunning, servicesAsKnown } from './daemons.ts';

interface KnownTrouble extends Trouble {
  /** Others announce it: broken destinations and what is unread are announced where they are found. */
  isAnnounced: boolean;
}

interface KnownState {
  daemons: readonly HeardDaemon[];
  services: readonly ServiceStatus[];
  broken: readonly CurrentOutage[];
  silent: readonly CurrentSilence[];
  /** Dead letters. */
  dead: number;
}

const daemonTroubles = (daemons: readonly HeardDaemon[]): KnownTrouble[] => {
  if (daemons.some(isRunning)) return [];
  const [last] = daemons;
  const what =
    last === undefined
      ? 'no daemon runs, and none has reported lately'
      : `no daemon runs, or none reaches Redis: ${last.host} (pid ${last.pid}) was last heard ${ageText(last.silentMs)} ago`;
  return [{ name: 'daemon', of: '', what, isAnnounced: true }];
};

const serviceTroubles = (services: readonly ServiceStatus[]): KnownTrouble[] =>
  services.flatMap(({ name, state, since, lastError = 'no answer' }): KnownTrouble[] => {
    if (state !== 'fails' && state !== 'partly') return [];
    const what = `${name} can${state === 'fails' ? 'not be read' : ' be read in part only'}`;
    const when = since === undefined ? {} : { since };
    return [{ name: 'service', of: name, what, why: lastError, ...when, isAnnounced: true }];
  });

const silentTrouble = ({ service, protocols, since }: CurrentSilence): KnownTrouble => ({
  name: 'silent',
  of: `${service} ${since}`,
  what: `${service}: nothing is inspected of ${listText(protocols)}`,
  since,
  isAnnounced: true,
});

const outageTrouble = ({ id, kind, name, since, message, todo }: CurrentOutage): KnownTrouble => {
  const own = todo === undefined ? {} : { todo };
  const facts = { what: `${name} takes no alerts`, why: message, since, ...own, isAnnounced: true };
  return id === senderId(kind) ? { name: 'channel', of: kind, ...facts } : { name: 'destination', of: id, ...facts };
};

const checksOf = (daemons: readonly HeardDaemon[], wanted: string) =>
  daemons.flatMap(({ checks }) => checks).filter(({ name, status }) => name === wanted && status === 'failing');

/** Channel kinds that a running daemon found broken, without those whose outage is shown already. */
const channelTroubles = (running: readonly HeardDaemon[], broken: readonly CurrentOutage[]): KnownTrouble[] =>
  CHANNEL_KINDS.filter((kind) => !broken.some(({ id }) => id === senderId(kind))).flatMap((kind): KnownTrouble[] => {
    const [failing] = checksOf(running, `channel:${kind}`);
    if (failing === undefined) return [];
    const { since, detail: why = 'no answer' } = failing;
    return [{ name: 'channel', of: kind, what: `${kind} does not work`, why, since, isAnnounced: false }];
  });

const jobTroubles = (running: readonly HeardDaemon[]): KnownTrouble[] => {
  const [failing] = checksOf(running, 'jobs');
  if (failing === undefined) return [];
  const { since, detail = 'a daemon meets jobs that it cannot read' } = failing;
  return [{ name: 'jobs', of: '', what: detail, since, isAnnounced: false }];
};

const deadTroubles = (dead: number): KnownTrouble[] => {
  if (dead === 0) return [];
  const what = `${dead === 1 ? 'one delivery is' : `${dead} deliveries are`} dead and kept: see tocsin dead list`;
  return [{ name: 'dead', of: '', what, isAnnounced: false }];
};

/** What daemons found themselves: once for all of them, or by their hosts. */
const foundTroubles = (running: readonly HeardDaemon[]): KnownTrouble[] => {
  const found = running.flatMap(({ host, troubles = [] }) =>
    troubles.map((trouble): KnownTrouble => {
      if (!isOfOneDaemon(trouble)) return { ...trouble, isAnnounced: false };
      const of = trouble.of === '' ? host : `${host} ${trouble.of}`;
      return { ...trouble, of, what: `at ${host}: ${trouble.what}`, isAnnounced: false };
    }),
  );
  const oldestFirst = found.toSorted((a, b) => (a.since ?? '').localeCompare(b.since ?? ''));
  return [...new Map(oldestFirst.toReversed().map((one) => [troubleKey(one), one])).values()].toReversed();
};

/** The worst first. */
export const troublesOf = ({ daemons, services, silent, broken, dead }: KnownState): KnownTrouble[] => {
  const running = daemons.filter(isRunning);
  return [
    ...daemonTroubles(daemons),
    ...serviceTroubles(services),
    ...silent.map(silentTrouble),
    ...broken.map(outageTrouble),
    ...channelTroubles(running, broken),
    ...deadTroubles(dead),
    ...jobTroubles(running),
    ...foundTroubles(running),
  ];
};

/** What may pass by itself needs somebody when it has lasted for so long. */
export const LASTING_MS = 60_000;
const MAY_PASS: ReadonlySet<TroubleName> = new Set([
  'queue',
  'durability',
  'jobs',
  'disk',
  'clock',
  'loop',
  'heartbeat',
  'buttons',
]);

/** Whether somebody has to do something about it. */
export const needsSomebody = ({ name, what, since }: Trouble, now: number, lastingMs = LASTING_MS): boolean => {
  const mayPass = MAY_PASS.has(name) || (name === 'service' && what.endsWith('in part only'));
  return !mayPass || (since !== undefined && now - Date.parse(since) >= lastingMs);
};

export interface StateDependencies {
  config: Pick<Config, 'services'>;
  dead: Pick<DeadLetters, 'count'>;
  outageStore: Pick<OutageStore, 'get'>;
  /** Protocols of which nothing is inspected. */
  silent: Parameters<typeof currentSilences>[0];
  /** What the daemons say of themselves, the one that was heard last first. */
  daemons(): Promise<readonly HeardDaemon[]>;
  /** See `needsSomebody`. */
  limits?: { lastingMs: number } | undefined;
  now(): number;
}

/** The state of all, and the troubles that need somebody. `destinations`: those that may be broken. */
export const stateOf = async (
  { config, dead, outageStore, silent, daemons, limits, now }: StateDependencies,
  destinations: Parameters<typeof currentOutages>[1],
) => {
  const heard = await daemons();
  const names = config.services.map(({ name }) => name);
  const state = {
    daemons: heard,
    services: servicesAsKnown(names, heard),
    broken: await currentOutages(outageStore, destinations),
    silent: await currentSilences(silent, config.services),
    dead: await dead.count(),
  };
  const troubles = troublesOf(state).filter((one) => needsSomebody(one, now(), limits?.lastingMs));
  return { ...state, troubles };
};
