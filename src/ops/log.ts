/** The log: one event a line, JSON or for people at a terminal, with no secret in any of them. */
import { type DestinationStream, type Logger, destination as openDestination, pino } from 'pino';
import { escapeInvisible } from '../text.ts';
import { loggedError } from './logged-error.ts';
import { createPrettyLine } from './pretty-line.ts';

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `pretty` is for people, `coloured` the same for a terminal. */
export type LogForm = 'json' | 'pretty' | 'coloured';

/** `log.format`, by what stdout is. */
export const logFormOf = (
  format: 'auto' | 'json' | 'pretty',
  { isTty, env }: { isTty: boolean; env: NodeJS.ProcessEnv },
): LogForm => {
  if (format === 'json' || (format === 'auto' && !isTty)) return 'json';
  return isTty && !env.NO_COLOR ? 'coloured' : 'pretty';
};

export interface LogSettings {
  level: LogLevel;
  /** Removes secrets from a text; see `createScrubber`. */
  scrub(text: string): string;
  /** Asked for each line, as the config may change. Default: JSON. */
  form?(): LogForm;
  /** Where lines go. Default: stdout, written before the call returns, so that no line is lost or late. */
  destination?: DestinationStream;
}

type Scrub = (text: string) => string;

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

/** What becomes of a finished JSON line. */
const createFinish = ({ scrub, form = () => 'json' }: LogSettings): ((line: string) => string) => {
  const forms: Record<LogForm, (line: string) => string> = {
    json: (line) => line,
    pretty: createPrettyLine(false),
    coloured: createPrettyLine(true),
  };
  return (line) => forms[form()](escapeInvisible(scrubLine(line, scrub)));
};

/** The daemon's logger. `time` is ISO 8601, `level` a word; an error belongs under the key `err`. */
export const createLogger = (settings: LogSettings) => {
  const { level, scrub, destination = openDestination({ dest: 1, sync: true }) } = settings;
  return pino(
    {
      name: 'tocsin',
      level,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: (thrown: unknown) => loggedError(thrown, scrub) },
      hooks: { streamWrite: createFinish(settings) },
    },
    destination,
  ) satisfies Logger;
};
