/** An error as a log line shows it: no request, payload or token, and a stack only where the fault may be ours. */
import { connectionFault } from '../connection-fault.ts';
import { messageOf } from '../errors.ts';

export interface LoggedError {
  type: string;
  message: string;
  /** The errno or the provider's word, where the error carries one. */
  code?: string;
  /** Ours: why a delivery or an answer of the service failed. */
  reason?: string;
  stack?: string;
}

type Scrub = (text: string) => string;

const wordOf = (error: Error, key: 'code' | 'reason', scrub: Scrub): { [key: string]: string } => {
  const value: unknown = Reflect.get(error, key);
  return typeof value === 'string' || typeof value === 'number' ? { [key]: scrub(String(value)) } : {};
};

/** These say what somebody else did, or what we made of it in words: where they were thrown helps nobody. */
const OTHERS = new Set([
  'DeliveryError',
  'ServiceError',
  'UnavailableError',
  'NoDaemonError',
  'UsageError',
  'ConfigError',
  // Of Node and undici: a wait that was over, or ended.
  'AbortError',
  'TimeoutError',
  // Of ioredis: every node of a Cluster is away, or a command was given up with its connection.
  'ClusterAllFailedError',
  'MaxRetriesPerRequestError',
]);

/** What a Redis says of its own state or of our rights; an error in a command or a script of ours is none of these. */
const OF_REDIS =
  /\b(READONLY|NOREPLICAS|LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|OOM|MISCONF|BUSY|NOAUTH|WRONGPASS|NOPERM|UNKILLABLE|UNBLOCKED|MOVED|ASK)\b/;
/** What ioredis and BullMQ say where a connection is gone or does not answer; it comes without a code. */
const GONE = [
  /^(Connection is closed\.|Command timed out|Socket timeout|Stream isn't writeable)/,
  /Too many Cluster redirections/,
  /^(could not renew lock|Missing lock) for job /,
];

/** A system call or a connection failed: refused, reset, timed out, not found, not trusted. */
const isOfSystem = (error: Error): boolean => {
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code !== 'string') return false;
  return 'syscall' in error || code.startsWith('UND_ERR_') || connectionFault(code) !== undefined;
};

const isOurs = (error: Error): boolean =>
  !OTHERS.has(error.name) &&
  !isOfSystem(error) &&
  !GONE.some((said) => said.test(error.message)) &&
  !(error.name === 'ReplyError' && OF_REDIS.test(error.message));

/** Node reports several addresses that all refused as one error without a text of its own. */
const textOf = (error: Error): string =>
  error.message === '' && error instanceof AggregateError ? error.errors.map(messageOf).join('; ') : error.message;

/** Only these fields are shown; pino's own serialiser would append the messages of all causes. */
export const loggedError = (thrown: unknown, scrub: Scrub): LoggedError =>
  thrown instanceof Error
    ? {
        type: thrown.name,
        message: scrub(textOf(thrown)),
        ...wordOf(thrown, 'code', scrub),
        ...wordOf(thrown, 'reason', scrub),
        ...(thrown.stack === undefined || !isOurs(thrown) ? {} : { stack: scrub(thrown.stack) }),
      }
    : { type: typeof thrown, message: scrub(String(thrown)) };
