/** What of the status needs a look, and in which order it is shown: the same on the page and in a terminal. */
import type {
  DaemonStatus,
  DestinationStatus,
  ProtocolStatus,
  ServiceStatus,
  SourceStatus,
  StatusReport,
} from './status.ts';

/** A source is read every few seconds; one that was not read for this long needs a look. */
const LATE_AFTER_SECONDS = 300;

export const isLate = ({ lastPoll, lagSeconds = 0 }: SourceStatus): boolean =>
  lastPoll === undefined || lagSeconds > LATE_AFTER_SECONDS;

const needsLook = ({ channels, sources }: ProtocolStatus): boolean => channels.length === 0 || sources.some(isLate);

/** Those that need a look first, otherwise as they came. */
export const sortProtocols = (protocols: readonly ProtocolStatus[]): ProtocolStatus[] => [
  ...protocols.filter(needsLook),
  ...protocols.filter((protocol) => !needsLook(protocol)),
];

const isFailing = ({ lastError }: DestinationStatus): boolean => lastError !== undefined;

/** Those that fail first, otherwise as they came. */
export const sortDestinations = (destinations: readonly DestinationStatus[]): DestinationStatus[] => [
  ...destinations.filter(isFailing),
  ...destinations.filter((destination) => !isFailing(destination)),
];

export const serviceText = ({ up, lastError, pollSeconds }: ServiceStatus): string => {
  if (!up) return lastError ?? 'does not answer';
  return pollSeconds === undefined ? 'answers' : `answers, each protocol is read every ${pollSeconds} s`;
};

export const daemonText = ({ isRunning, ready, checks }: DaemonStatus): string => {
  if (!isRunning) return 'silent: it does not run, or cannot reach Redis';
  const open = checks.filter(({ status }) => status !== 'ok').map(({ name, status }) => `${name} ${status}`);
  return ready ? 'ready' : `not ready: ${open.join(', ')}`;
};

/** Those that run, and what fell silent on a host where none runs now: one that was started again there is no news. */
export const shownDaemons = ({ daemons }: StatusReport): DaemonStatus[] => {
  const isAlive = (host: string): boolean => daemons.some((one) => one.isRunning && one.host === host);
  return daemons.filter(({ isRunning, host }) => isRunning || !isAlive(host));
};

export interface Totals {
  down: number;
  late: number;
  failing: number;
  waiting: number;
  delayed: number;
  /** Alerts that wait for an approval. */
  held: number;
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

export const totalsOf = ({ services, protocols, destinations, queues, held }: StatusReport): Totals => ({
  down: services.filter(({ up }) => !up).length,
  late: protocols.filter(({ sources }) => sources.some(isLate)).length,
  failing: destinations.filter(isFailing).length,
  waiting: sum(queues.map(({ waiting }) => waiting)),
  delayed: sum(queues.map(({ delayed }) => delayed)),
  held: sum(held.map(({ waiting }) => waiting)),
});
