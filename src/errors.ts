/** The three errors that cross folder borders. Each says what happened without repeating a secret. */
import { MINUTE_MS, SECOND_MS } from './time.ts';

/** One thing wrong in the configuration. `line` and `column` count from 1; absent where no place can be named. */
export interface ConfigProblem {
  file: string;
  line?: number;
  column?: number;
  /** Dotted path of the key, e.g. `services.0.timeout`. */
  path: string;
  rule: string;
  got?: string;
}

const place = ({ file, line, column }: ConfigProblem): string =>
  line === undefined ? file : `${file}:${line}:${column ?? 1}`;

/** `file:line:col: path: rule (got ...)`. */
export const formatProblem = (problem: ConfigProblem): string =>
  `${place(problem)}: ${problem.path}: ${problem.rule}${problem.got === undefined ? '' : ` (got ${problem.got})`}`;

/** The configuration cannot be used; carries every problem found, not only the first. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];
  constructor(problems: readonly ConfigProblem[]) {
    super(problems.map(formatProblem).join('\n'));
    this.problems = problems;
  }
}

/** The operator asked for something that cannot be done as asked (a bad argument, an unknown protocol). */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** A dependency is not reachable now; trying again later may help. */
export class UnavailableError extends Error {
  override readonly name = 'UnavailableError';
}

/** Nothing can be looked at, because no daemon runs. */
export class NoDaemonError extends UnavailableError {}

/**
 * Why the monitoring service did not give a usable answer.
 * `unauthorized`: 401 or 403. `missing`: 404 or 410. `rejected`: another 4xx or a redirect. `limited`: 429.
 * `failed`: 5xx. `unreachable`: no connection, reset, or timeout. `unreadable`: an answer that is not what was asked for.
 * `held`: not asked, because the service named a wait that is not over.
 */
export type ServiceReason =
  | 'unauthorized'
  | 'missing'
  | 'rejected'
  | 'limited'
  | 'failed'
  | 'unreachable'
  | 'unreadable'
  | 'held'
  | 'aborted';

/**
 * What the service gives is read within bounds; also the label of the metric.
 *
 *   answer-bytes, answer-values, page-elements   one answer; fewer items may fit
 *   list-pages, list-items, list-readings        one list, which has to end
 *   protocols, listing-size                      one key's listing
 *   contacts                                     one protocol's channels
 *   malformed                                    one page's malformed items that are logged one by one
 *   item-bytes                                   one item that becomes an alert; the rest of it is cut off
 */
export const SERVICE_BOUNDS = [
  'answer-bytes',
  'answer-values',
  'page-elements',
  'list-pages',
  'list-items',
  'list-readings',
  'protocols',
  'listing-size',
  'contacts',
  'malformed',
  'item-bytes',
] as const;
export type ServiceBound = (typeof SERVICE_BOUNDS)[number];

export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly reason: ServiceReason;
  readonly status: number | undefined;
  /** What the service asked us to wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** The bound that was reached, where there was more to read. */
  readonly bound: ServiceBound | undefined;
  constructor(
    reason: ServiceReason,
    message: string,
    details: { status?: number; retryAfterMs?: number; bound?: ServiceBound; cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.reason = reason;
    this.status = details.status;
    this.retryAfterMs = details.retryAfterMs;
    this.bound = details.bound;
  }
}

/** It is about the protocol that was asked for; others may be asked for. */
export const isOfOneProtocol = (error: unknown): boolean =>
  error instanceof ServiceError && ['missing', 'rejected', 'unreadable'].includes(error.reason);

/** How long to wait before another try, where the provider named no wait: each time twice as long as before. */
export interface RetryCurve {
  firstMs: number;
  longestMs: number;
  /** The whole destination waits, not only this delivery. */
  holds?: true;
}

/** All that follows from a reason. Other files ask here and compare no reasons, so that a new one needs only its row. */
interface ReasonFacts {
  /** What does not work. A refused message or a limited rate does not say whether its destination works. */
  about: 'message' | 'destination' | 'sender';
  /** `passing`: the same may work a little later. `lasting`: it stays wrong until somebody mends it. `ours`: we change it. */
  outlook: 'passing' | 'lasting' | 'ours' | 'undocumented';
  /** `plainer`: at once, with less markup, never the same again. `readdress`: at once, to `newAddress`. */
  next: RetryCurve | 'plainer' | 'readdress' | 'dead';
}

/** What a channel's failure means for the delivery; a reason is also the label of the metric. */
const REASONS = {
  /** A passing fault: no connection, no answer, or "not now". */
  unavailable: { about: 'destination', outlook: 'passing', next: { firstMs: SECOND_MS, longestMs: 5 * MINUTE_MS } },
  /** The provider named a wait: obey it. */
  'rate-limited': {
    ...{ about: 'message', outlook: 'passing' },
    next: { firstMs: 5 * SECOND_MS, longestMs: 5 * MINUTE_MS, holds: true },
  },
  /** The destination moved. */
  're-address': { about: 'message', outlook: 'ours', next: 'readdress' },
  /** This body was refused. */
  'bad-message': { about: 'message', outlook: 'ours', next: 'plainer' },
  /** This address will not take anything. */
  'destination-dead': { about: 'destination', outlook: 'lasting', next: 'dead' },
  /** Our token, key or server is wrong: every destination of it waits. Frequent tries could lock us out. */
  'sender-misconfigured': {
    ...{ about: 'sender', outlook: 'lasting' },
    next: { firstMs: 15 * SECOND_MS, longestMs: 5 * MINUTE_MS },
  },
  /** An answer nobody documented: retried, with care. */
  unknown: {
    ...{ about: 'destination', outlook: 'undocumented' },
    next: { firstMs: 5 * SECOND_MS, longestMs: 10 * MINUTE_MS },
  },
} as const satisfies Record<string, ReasonFacts>;

export type DeliveryReason = keyof typeof REASONS;
export const DELIVERY_REASONS = Object.keys(REASONS) as readonly DeliveryReason[];

export const factsOf = (reason: DeliveryReason): ReasonFacts => REASONS[reason];

/** Whether it says that its destination or sender does not work. `reason`: as an attempt was recorded with it. */
export const isConclusive = (reason: string): boolean =>
  (REASONS as Readonly<Record<string, ReasonFacts>>)[reason]?.about !== 'message';

/** What a failure means, for people who do not know the provider's codes. Parts of sentences in our own words. */
export interface Explanation {
  /** Whom it is about: `Slack`. Absent where that is the destination. */
  who?: string;
  /** What is wrong: `is archived`. */
  is: string;
  /** What mends it: `unarchive the channel`. */
  todo: string;
}

export interface DeliveryFailure {
  /** The provider's own word for it: a Slack code, an SMTP reply, an HTTP status, an errno. Free of secrets. */
  code: string;
  /** The wait the provider asked for, in milliseconds. */
  retryAfterMs?: number | undefined;
  /** True where the message may have arrived although no receipt did. Default false. */
  maybeDelivered?: boolean;
  /** No connection came about, so nobody has looked at the message: where several share a server, it is theirs. Default false. */
  unreached?: boolean;
  /** Where the destination moved to; only with `re-address`. */
  newAddress?: string;
  /** The receiver wants nothing at all any more; only with `destination-dead`. Default false. */
  disables?: boolean;
  explanation?: Explanation | undefined;
  /** What the provider answered, where the message says it in other words. */
  said?: string;
  cause?: unknown;
}

/** A message was not accepted. The message text is built by us and holds no token, URL path or payload. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError';
  readonly reason: DeliveryReason;
  readonly code: string;
  readonly retryAfterMs: number | undefined;
  readonly maybeDelivered: boolean;
  readonly unreached: boolean;
  readonly newAddress: string | undefined;
  readonly disables: boolean;
  readonly explanation: Explanation | undefined;
  readonly said: string | undefined;
  constructor(reason: DeliveryReason, message: string, failure: DeliveryFailure) {
    super(message, failure.cause === undefined ? undefined : { cause: failure.cause });
    this.reason = reason;
    this.code = failure.code;
    this.retryAfterMs = failure.retryAfterMs;
    this.maybeDelivered = failure.maybeDelivered ?? false;
    this.unreached = failure.unreached ?? false;
    this.newAddress = failure.newAddress;
    this.disables = failure.disables ?? false;
    this.explanation = failure.explanation;
    this.said = failure.said;
  }
}

/** The same may work a little later. */
export const isPassing = (error: unknown): error is DeliveryError =>
  error instanceof DeliveryError && factsOf(error.reason).outlook === 'passing';

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

export const orUndefined = <T>(make: () => T): T | undefined => {
  try {
    return make();
  } catch {
    return undefined;
  }
};
