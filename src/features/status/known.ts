/** What all daemons together know: which of them run, and how each service answers. Pure. */
import type { DaemonStatus, ServiceCondition, ServiceStatus } from '../../ops/status.ts';
import { ageText, iso } from '../../time.ts';
import type { HeardDaemon } from './daemons.ts';

/** Daemons report every few seconds; one that was not heard for this long does not run, or cannot write to Redis. */
export const SILENT_AFTER_MS = 20_000;

export const isRunning = ({ silentMs }: Pick<HeardDaemon, 'silentMs'>): boolean => silentMs <= SILENT_AFTER_MS;

export const daemonStatus = (
  { silentMs, services: _, reload: __, ...daemon }: HeardDaemon,
  now: number,
): DaemonStatus => ({
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
