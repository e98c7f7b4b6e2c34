/** The log: JSON lines, one event a line, with no secret in any of them. */
import { type DestinationStream, type Logger, destination as openDestination, pino } from 'pino';
import { escapeInvisible } from '../text.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LogSettings {
  level: LogLevel;
  /** Removes secrets from a text; see `createScrubber`. */
  scrub(text: string): string;
  /** Where lines go. Default: stdout, written before the call returns, so that no line is lost or late. */
  destination?: DestinationStream;
}

/** An error as a log line shows it. */
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

/**
 * Only these fields are shown: client libraries hang requests, payloads and tokens onto their errors, and pino's own
 * serialiser would append the messages of all causes.
 */
const logError = (thrown: unknown, scrub: Scrub): LoggedError =>
  thrown instanceof Error
    ? {
        type: thrown.name,
        message: scrub(thrown.message),
        ...wordOf(thrown, 'code', scrub),
        ...wordOf(thrown, 'reason', scrub),
        ...(thrown.stack === undefined ? {} : { stack: scrub(thrown.stack) }),
      }
    : { type: typeof thrown, message: scrub(String(thrown)) };

const scrubValue = (value: unknown, scrub: Scrub): unknown => {
  if (typeof value === 'string') return scrub(value);
  if (typeof value === 'number') return scrub(String(value)) === String(value) ? value : scrub(String(value));
  if (Array.isArray(value)) return value.map((each) => scrubValue(each, scrub));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [scrub(key), scrubValue(each, scrub)]));
};

/**
 * The last defence, over the finished line. A line without a backslash holds every text as it is, so looking at the
 * line is enough. Where characters are escaped a secret may be spelt differently, and cutting inside an escape would
 * break the JSON: such a line, and one that holds a secret, is taken apart and scrubbed text by text.
 */
const scrubLine = (line: string, scrub: Scrub): string =>
  !line.includes('\\') && scrub(line) === line ? line : `${JSON.stringify(scrubValue(JSON.parse(line), scrub))}\n`;

/** The daemon's logger. `time` is ISO 8601, `level` a word; an error belongs under the key `err`. */
export const createLogger = ({ level, scrub, destination = openDestination({ dest: 1, sync: true }) }: LogSettings) =>
  pino(
    {
      name: 'tocsin',
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (thrown: unknown) => logError(thrown, scrub) },
      hooks: { streamWrite: (line) => escapeInvisible(scrubLine(line, scrub)) },
    },
    destination,
  ) satisfies Logger;
