/** What all daemons together know: which of them run, how each service answers, and what needs somebody. Pure. */
import { CHANNEL_KINDS } from '../../alert.ts';
import { senderId } from '../../identity.ts';
import type { DaemonStatus, ServiceCondition, ServiceStatus } from '../../ops/status.ts';
import { ageText, iso } from '../../time.ts';
import { type CurrentOutage, outageSentence } from '../outages/current.ts';
import type { HeardDaemon } from './daemons.ts';

/** Daemons report every few seconds; one that was not heard for this long does not run, or cannot write to Redis. */
export const SILENT_AFTER_MS = 20_000;
/** A single read that fails may pass by itself; one that fails for this long needs somebody. */
const PARTLY_FOR_MS = 60_000;

export const isRunning = ({ silentMs }: Pick<HeardDaemon, 'silentMs'>): boolean => silentMs <= SILENT_AFTER_MS;

export const daemonStatus = ({ silentMs, services: _, ...daemon }: HeardDaemon, now: number): DaemonStatus => ({
  ...daemon,
  heardAt: iso(now - silentMs),
  isRunning: isRunning({ silentMs }),
});

/** Daemons share the polls, so one may not have read for long what another reads all the time: knowledge comes first. */
const WORST_FIRST: readonly ServiceCondition[] = ['fails', 'partly', 'answers', 'unknown'];

const knowledgeOf = (name: string, daemons: readonly HeardDaemon[]): ServiceStatus | undefined => {
  const known = daemons.flatMap(({ services }) => services.filter((service) => service.name === name));
  return WORST_FIRST.flatMap((state) => known.find((one) => one.state === state) ?? [])[0];
};

const silentService = (name: string, daemons: readonly HeardDaemon[]): ServiceStatus => {
  const [last] = daemons;
  const knew = last && knowledgeOf(name, [last]);
  const then = knew && (knew.up ? 'answered' : `did not: ${knew.lastError ?? 'no answer'}`);
  const lastError = then === undefined ? '' : `; ${ageText(last?.silentMs ?? 0)} ago it ${then}`;
  return { name, up: false, state: 'unknown', lastError: `unknown, as no daemon runs${lastError}` };
};

/** How each service answers, as the daemons that run know it. */
export const servicesAsKnown = (names: readonly string[], daemons: readonly HeardDaemon[]): ServiceStatus[] => {
  const running = daemons.filter(isRunning);
  return names.map((name) => {
    if (running.length === 0) return silentService(name, daemons);
    const unread: ServiceStatus = { name, up: false, state: 'unknown', lastError: 'no daemon that runs reads it' };
    return knowledgeOf(name, running) ?? unread;
  });
};

const daemonSentences = (daemons: readonly HeardDaemon[]): string[] => {
  if (daemons.some(isRunning)) return [];
  const [last] = daemons;
  if (last === undefined) return ['no daemon runs, and none has reported lately'];
  const age = ageText(last.silentMs);
  return [`no daemon runs, or none reaches Redis: ${last.host} (pid ${last.pid}) was last heard ${age} ago`];
};

const serviceSentences = (services: readonly ServiceStatus[], now: number): string[] =>
  services.flatMap(({ name, state, since, lastError }) => {
    const why = `${since === undefined ? '' : ` since ${since}`}: ${lastError ?? 'no answer'}`;
    if (state === 'fails') return `${name} cannot be read${why}`;
    const isLasting = since !== undefined && now - Date.parse(since) >= PARTLY_FOR_MS;
    return state === 'partly' && isLasting ? `${name} can be read in part only${why}` : [];
  });

/** Channel kinds that a running daemon found broken, without those whose outage is shown already. */
const channelSentences = (daemons: readonly HeardDaemon[], broken: readonly CurrentOutage[]): string[] =>
  CHANNEL_KINDS.filter((kind) => !broken.some(({ id }) => id === senderId(kind))).flatMap((kind) => {
    const failing = daemons
      .filter(isRunning)
      .flatMap(({ checks }) => checks)
      .find(({ name, status }) => name === `channel:${kind}` && status === 'failing');
    return failing ? `${kind} does not work since ${failing.since}: ${failing.detail ?? 'no answer'}` : [];
  });

const deadSentence = (dead: number): string =>
  `${dead === 1 ? 'one delivery is' : `${dead} deliveries are`} dead and kept: see tocsin dead list`;

export interface KnownState {
  daemons: readonly HeardDaemon[];
  services: readonly ServiceStatus[];
  broken: readonly CurrentOutage[];
  /** Dead letters. */
  dead: number;
  now: number;
}

/** One sentence for each thing that does not pass by itself, the worst first. */
export const needsSomebody = ({ daemons, services, broken, dead, now }: KnownState): string[] => [
  ...daemonSentences(daemons),
  ...serviceSentences(services, now),
  ...broken.map(outageSentence),
  ...channelSentences(daemons, broken),
  ...(dead === 0 ? [] : [deadSentence(dead)]),
];
