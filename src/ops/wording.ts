/** What of the status needs a look, and in which order it is shown: the same on the page and in a terminal. */
import type { DestinationStatus, ProtocolStatus, SourceStatus, StatusReport } from './status.ts';

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
