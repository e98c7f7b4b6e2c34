/** All that one rendering of the status page is made from. */
import type { HeldStatus, StatusReport } from '../status.ts';

/**
 * What the page shows besides the status report: what happened lately, and what an operator may change. All times are
 * ISO 8601, all durations milliseconds. Nothing in it is secret.
 */
export interface PageDetails {
  /** The latest alerts by date, newest first. */
  alerts: RecentAlert[];
  /** The last day in steps of `ACTIVITY_STEP_MS`, oldest first; the last one is not over. */
  activity: ActivityStep[];
  /** In words, by destination id: `1/s`. */
  rates: ReadonlyMap<string, string>;
  /** Ids of destinations whose receivers want nothing more. */
  disabled: ReadonlySet<string>;
  /** Labels of the destinations of a protocol, by its name. */
  destinationsOf: ReadonlyMap<string, readonly string[]>;
  /** Those that wait for approval or were revoked. */
  approvals: ApprovalDetails[];
  isGateOn: boolean;
  /** The latest dead letters, newest first. */
  dead: DeadDetails[];
  audits: AuditDetails[];
  /** What operators did lately, newest first. */
  actions: ActionDetails[];
  /** The configuration in force, by dotted key, secrets hidden. */
  config: readonly ConfigEntry[];
}

export const ACTIVITY_STEP_MS = 600_000;
export const ACTIVITY_STEPS = 144;

export type DeliveryOutcome = 'delivered' | 'waiting' | 'muted' | 'dead';

export interface RecentDelivery {
  /** The destination's name, with its kind. */
  to: string;
  state: DeliveryOutcome;
  /** When it last changed. */
  at: string;
  /** From the service to the receiver; absent where it has not arrived, or was replayed. */
  tookMs?: number | undefined;
  /** Of the last attempt, a sentence without secrets. */
  error?: string | undefined;
  /** Nothing was sent there, as the message of another alert says the same. */
  isCovered?: true | undefined;
}

export interface RecentAlert {
  id: string;
  protocol: string;
  service: string;
  type: string;
  at: string;
  txHash?: string | undefined;
  /** The transaction in its chain's explorer. */
  explorer?: string | undefined;
  /** `👀 Ann is on it · acknowledged 02:45:10 UTC on Slack #alerts · 62 s after the alert`, or that nobody has yet; absent where nobody can. */
  acknowledged?: string | undefined;
  /** Notifications that it covers: they have no row of their own. */
  covers?: number;
  counts: Readonly<Record<DeliveryOutcome, number>>;
  /** Some of them, those in trouble first. */
  deliveries: RecentDelivery[];
}

export interface ActivityStep {
  at: number;
  /** Alerts that are dated in it. */
  alerts: number;
  /** Of deliveries that ended in it; absent where there was none. */
  latency?: { medianMs: number; mostMs: number } | undefined;
}

export interface ApprovalDetails extends Omit<HeldStatus, 'kind' | 'since'> {
  kind: string;
  state: 'held' | 'new' | 'revoked';
  since?: string | undefined;
}

export interface DeadDetails extends Pick<RecentAlert, 'protocol' | 'at' | 'txHash' | 'explorer'> {
  /** The delivery's id. */
  id: string;
  to: string;
  reason: string;
  message: string;
  attempts: number;
}

export interface AuditDetails {
  service: string;
  /** The protocol that was compared longest ago; absent where none was. */
  auditedTo?: string | undefined;
  /** Protocols that were never compared. */
  never: number;
}

export interface ActionDetails {
  at: string;
  text: string;
}

export interface ConfigEntry {
  key: string;
  value: string;
}

/** One alert with all of its attempts, as a search finds it. */
export interface TracedAlert extends Omit<RecentAlert, 'deliveries' | 'counts'> {
  itemId: string;
  readAt: string;
  deliveries: TracedDelivery[];
  /** Deliveries that are not listed, as there are too many. */
  more: number;
}

interface TracedDelivery extends RecentDelivery {
  id: string;
  kind: string;
  /** What happened, oldest first: attempts, and what operators did. */
  history: { at: string; text: string }[];
}

export interface PageView {
  report: StatusReport;
  /** Absent where they cannot be had now. */
  details?: PageDetails | undefined;
  /** Only protocols and destinations with this in their names. */
  filter?: string | undefined;
  /** Redis gives no answer now: what was known last is shown. */
  outdated?: OutdatedView | undefined;
  viewer: Viewer;
  /** ISO 8601; of the report, unless it is outdated. */
  now: string;
}

export interface OutdatedView {
  /** When Redis fell silent, ISO 8601; absent where that is not known yet. */
  since?: string | undefined;
  /** What else this daemon knows to be wrong, in sentences, and what to do. */
  problems: { text: string; since?: string; todo?: string }[];
}

export interface Viewer {
  /** `ops.token` is set, so that somebody may sign in. */
  canSignIn: boolean;
  /** Signed in: what each form carries. */
  csrf?: string;
  /** Signed in at a trusted proxy, as whom: text from outside. */
  user?: string;
  hasQueues?: boolean;
}

export const READER: Viewer = { canSignIn: false };
