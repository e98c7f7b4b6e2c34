/** What runs now, as data and in words: the daemon fills it in, the status page and the `status` command show it. */
import type { ChannelKind, Mute, Source } from '../alert.ts';
import type { Condition } from '../condition.ts';
import type { Build } from '../version.ts';
import type { CheckReport } from './health.ts';

/** All times are ISO 8601. Nothing in it is secret. */
export interface StatusReport extends Build {
  /** Absent where no daemon was asked, only its Redis. */
  startedAt?: string;
  now: string;
  /** Those that run, and those that have fallen silent without a stop, for a month. */
  daemons: DaemonStatus[];
  services: ServiceStatus[];
  protocols: ProtocolStatus[];
  /** Protocols that a service lists, and that are not read, or not whole. */
  unwatched: UnwatchedStatus[];
  destinations: DestinationStatus[];
  /** What hangs on one token or mail server alone, one sentence each. */
  hanging: string[];
  /** Destinations that wait to be approved. */
  held: HeldStatus[];
  /** Mutes that hold now, the next to end first. */
  mutes: MuteStatus[];
  queues: QueueStatus[];
  /**
   * Critical alerts of the last day that people can acknowledge, and nobody has; since when the oldest; whether there may be
   * more. What other alerts cover counts nowhere. Absent where `alerts.acknowledge` is off.
   */
  unacknowledged?: { count: number; since?: string; isAtLeast?: boolean };
  /** Deliveries that failed for good and are kept, with those that had no destination. */
  dead: number;
  /** Dead deliveries that were removed within the last week because too many were kept. */
  deadRemoved: number;
  /** What is wrong with Tocsin itself and does not pass by itself, the worst first. */
  troubles: TroubleStatus[];
  /** What somebody should look at when there is time. */
  remarks: TroubleStatus[];
  /** Remarks that somebody has marked as known, each with its `known`: they are in nothing else, and count nothing. */
  known: TroubleStatus[];
  /** `troubles` and `remarks`: what somebody should look at, one sentence each, worst first. */
  problems: string[];
  /** `troubles` as sentences, all of them in `problems`: the `status` command ends with 2 where there is one. */
  needsSomebody: string[];
}

export interface TroubleStatus extends Omit<Condition, 'under'> {
  /** By which it can be marked as known; absent of what cannot. */
  id?: string;
  severity: string;
  /** What to do next, as part of a sentence. */
  todo: string;
}

export interface DaemonStatus extends Build {
  id: string;
  host: string;
  pid: number;
  startedAt: string;
  /** When it last said how it is doing. */
  heardAt: string;
  /** It was heard within a few of its reports. */
  isRunning: boolean;
  /** It ended without saying so, was not started again under the same name, and nobody has forgotten it. */
  isMissed: boolean;
  /** What `/readyz` said then. */
  ready: boolean;
  checks: CheckReport[];
  /** Absent where it cannot read its config again. */
  config?: ConfigStatus;
}

/** What a daemon runs with, and what it found on disk since. */
export interface ConfigStatus {
  file: string;
  /** Since when what runs is in force, and what it changed; absent of the config with which the daemon started. */
  since: string;
  changed?: string[];
  /** Since when the file, or one that it names, differs from what runs. */
  differsSince?: string;
  /** Why what is there was not taken, one sentence each. */
  refused?: { at: string; problems: string[] };
}

/**
 * `answers`: all that was asked was answered. `partly`: some of its reads fail. `fails`: it cannot be read.
 * `elsewhere`: it does not answer this daemon, and others read it. `unknown`: nobody has read it yet, or not lately.
 */
export type ServiceCondition = 'answers' | 'partly' | 'fails' | 'elsewhere' | 'unknown';

/** What one daemon knows of a service, or all of them together. */
export interface ServiceStatus {
  name: string;
  /** It answers, as far as a running daemon knows. */
  up: boolean;
  state: ServiceCondition;
  since?: string | undefined;
  /** Where it is not up: why, in a sentence without secrets. */
  lastError?: string | undefined;
  /** How long a protocol waits between two polls at most; absent where no daemon says so. */
  pollSeconds?: number;
  /** The `poll.requestsPerSecond` with which no protocol waits too long, where the present one is too small. */
  neededRequestsPerSecond?: number;
}

export interface ProtocolStatus {
  service: string;
  name: string;
  /** Where its alerts go, in words. */
  channels: string[];
  sources: SourceStatus[];
}

interface UnwatchedStatus {
  service: string;
  name: string;
  /** Why, in a sentence. */
  reason: string;
}

export interface SourceStatus {
  source: Source;
  /** Everything written before it is durably queued. */
  cursor?: string;
  lagSeconds?: number;
  /** When a read was last completed. */
  lastPoll?: string;
}

export interface DestinationStatus {
  id: string;
  kind: ChannelKind;
  label: string;
  /** What its provider calls it, where that is known. */
  name?: string | undefined;
  /** Alerts that wait to be sent: for their turn, a slot or a retry. Those that wait for an approval do not count. */
  waiting: number;
  /** Alerts, since it was first sent to. */
  delivered: number;
  /** Deliveries that failed for good and are kept: a retry takes them away. */
  dead: number;
  lastSuccess?: string;
  lastError?: string;
}

export interface HeldStatus extends Pick<DestinationStatus, 'id' | 'kind' | 'label' | 'name'> {
  /** Names of those that lead to it. */
  protocols: readonly string[];
  since: string;
  /** Alerts. */
  waiting: number;
}

interface MuteStatus extends Mute {
  /** Alerts that it hides by now. */
  hid: number;
}

/** Jobs: one may have many alerts. */
interface QueueStatus {
  name: string;
  waiting: number;
  delayed: number;
  active: number;
  failed: number;
}

/** A source is read every few seconds; one that was not read for this long needs a look. */
const LATE_AFTER_SECONDS = 300;

export const isLate = ({ lastPoll, lagSeconds = 0 }: SourceStatus): boolean =>
  lastPoll === undefined || lagSeconds > LATE_AFTER_SECONDS;

/** Those that are first, then the others; otherwise as they came. */
const sortFirst = <T>(all: readonly T[], isFirst: (one: T) => boolean): T[] => [
  ...all.filter(isFirst),
  ...all.filter((one) => !isFirst(one)),
];

const isLateProtocol = ({ sources }: ProtocolStatus): boolean => sources.some(isLate);

/** Those that are late, then those without channels. */
export const sortProtocols = (protocols: readonly ProtocolStatus[]): ProtocolStatus[] =>
  sortFirst(
    sortFirst(protocols, ({ channels }) => channels.length === 0),
    isLateProtocol,
  );

const isFailing = ({ lastError }: DestinationStatus): boolean => lastError !== undefined;

export const sortDestinations = (destinations: readonly DestinationStatus[]): DestinationStatus[] =>
  sortFirst(destinations, isFailing);

export const serviceText = ({ up, lastError, pollSeconds }: ServiceStatus): string => {
  if (!up) return lastError ?? 'does not answer';
  return pollSeconds === undefined ? 'answers' : `answers, each protocol is read every ${pollSeconds} s`;
};

export const daemonText = ({ isRunning, isMissed, ready, checks }: DaemonStatus): string => {
  if (!isRunning) return `${isMissed ? 'missed' : 'silent'}: it does not run, or cannot reach Redis`;
  const open = checks.filter(({ status }) => status !== 'ok').map(({ name, status }) => `${name} ${status}`);
  return ready ? 'ready' : `not ready: ${open.join(', ')}`;
};

/** One that was started again is no news. */
export const shownDaemons = ({ daemons }: StatusReport): DaemonStatus[] =>
  daemons.filter(({ isRunning, isMissed }) => isRunning || isMissed);

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** Alerts wait, and jobs are counted by queue only. */
export const totalsOf = ({ services, protocols, destinations, held }: StatusReport) => ({
  down: services.filter(({ up }) => !up).length,
  late: protocols.filter(isLateProtocol).length,
  failing: destinations.filter(isFailing).length,
  waiting: sum(destinations.map(({ waiting }) => waiting)),
  /** Alerts that wait for an approval. */
  held: sum(held.map(({ waiting }) => waiting)),
});
