/** The log: one event a line, JSON or for people at a terminal, with no secret in any of them. */
import { type DestinationStream, type Logger, destination as openDestination, pino } from 'pino';
import { messageOf } from '../errors.ts';
import { connectionFault } from '../net.ts';
import { createRarely } from '../rarely.ts';
import { escapeInvisible, shorten } from '../text.ts';
import { clock, DAY_MS } from '../time.ts';

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

/**
 * An error as a log line shows it: no request, payload or token, and a stack only where the fault may be ours. Pino's own
 * serialiser would append the messages of all causes.
 */
const loggedError = (thrown: unknown, scrub: Scrub) =>
  thrown instanceof Error
    ? {
        type: thrown.name,
        message: scrub(textOf(thrown)),
        ...wordOf(thrown, 'code', scrub),
        ...wordOf(thrown, 'reason', scrub),
        ...(thrown.stack === undefined || !isOurs(thrown) ? {} : { stack: scrub(thrown.stack) }),
      }
    : { type: typeof thrown, message: scrub(String(thrown)) };

/** SGR codes of each level. */
const COLOURS: Readonly<Record<string, string>> = {
  trace: '90',
  debug: '90',
  info: '32',
  warn: '33',
  error: '31',
  fatal: '1;31',
};

const FAINT = '2';
const STRONG = '1';

/** On one line, and without what a terminal would obey. */
const plain = (text: string): string => escapeInvisible(text).replaceAll('\n', '\\n').replaceAll('\t', '\\t');

/** A word stands as it is; anything else is JSON, so that it ends where it ends. */
const WORD = /^[\p{L}\p{N}_./:@#+*,-]+$/u;

const valueText = (value: unknown): string => {
  if (typeof value === 'string' && WORD.test(value)) return value;
  if (Array.isArray(value)) return `[${value.map(valueText).join(' ')}]`;
  return plain(JSON.stringify(value) ?? 'undefined');
};

type Paint = (code: string, text: string) => string;

const errorText = (err: unknown): { field: string; stack: string[] } => {
  if (typeof err !== 'object' || err === null) return { field: valueText(err), stack: [] };
  const { type, message, stack, ...rest } = err as Record<string, unknown>;
  const more = Object.entries(rest).map(([key, value]) => ` (${plain(key)} ${valueText(value)})`);
  const field = `${plain(String(type))}: ${plain(String(message))}${more.join('')}`;
  const frames = typeof stack === 'string' ? stack.split('\n').filter((line) => /^\s+at /.test(line)) : [];
  return { field, stack: frames.map((line) => `    ${plain(line.trim())}`) };
};

/**
 * Gives what writes one JSON line, with its line feed, for people at a terminal: time, level, message, then the other
 * fields. Made of the finished line, so nothing is in it that is not in the other form. Own, because `pino-pretty` formats
 * in a thread or by a second parser of its own, and knows nothing of text that moves a terminal's cursor.
 */
const createPrettyLine = (hasColour: boolean): ((line: string) => string) => {
  const paint: Paint = (code, text) => (hasColour ? `\u001b[${code}m${text}\u001b[0m` : text);
  return (line) => {
    const {
      time,
      level,
      name: _n,
      pid: _p,
      hostname: _h,
      msg,
      err,
      ...fields
    } = JSON.parse(line) as Record<string, unknown>;
    const word = String(level);
    const error = err === undefined ? undefined : errorText(err);
    const shown = Object.entries(fields).map(([key, value]) => ` ${paint(FAINT, `${plain(key)}=`)}${valueText(value)}`);
    const head = `${paint(FAINT, clock(String(time), 'milliseconds').slice(11))} ${paint(COLOURS[word] ?? STRONG, word.toUpperCase().padEnd(5))}`;
    const first = `${head} ${paint(STRONG, plain(String(msg ?? '')))}${shown.join('')}`;
    const lines = error === undefined ? [first] : [`${first} ${paint('31', error.field)}`, ...error.stack];
    return `${lines.join('\n')}\n`;
  };
};

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

interface LogSettings {
  level: LogLevel;
  scrub(text: string): string;
  /** Asked for each line, as the config may change. Default: JSON. */
  form?(): LogForm;
  /** Where lines go. Default: stdout, see `createStdout`. */
  destination?: DestinationStream;
}

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

/** As pino numbers it. */
const WARN = 40;
/** So many characters are written at once. */
const MOST_GATHERED = 65_536;

/**
 * The lines of one round of the event loop are one write; a warning, and what is worse, is written at once, with all before it.
 * What is left is written when the process ends, also by a fault of its own. One that is killed loses no more than the
 * information of its last round.
 */
const createStdout = (): DestinationStream => {
  const out = openDestination({ dest: 1, sync: true });
  let gathered = '';
  const flush = (): void => {
    if (gathered !== '') out.write(gathered);
    gathered = '';
  };
  process.once('exit', flush);
  return {
    [pino.symbols.needsMetadataGsym]: true,
    lastLevel: 0,
    write(line: string): void {
      if (gathered === '') setImmediate(flush);
      gathered += line;
      if (this.lastLevel >= WARN || gathered.length > MOST_GATHERED) flush();
    },
  } as DestinationStream & { lastLevel: number };
};

let stdout: DestinationStream | undefined;
const openStdout = (): DestinationStream => {
  stdout ??= createStdout();
  return stdout;
};

/** The daemon's logger. `time` is ISO 8601, `level` a word; an error belongs under the key `err`. */
export const createLogger = (settings: LogSettings) => {
  const { level, scrub, destination = openStdout() } = settings;
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

/** Of what a library writes at once. */
const LONGEST_PRINTED = 2000;

/**
 * Libraries print, some the same for each connection: what goes to stdout and stderr becomes a line of the log, once a day.
 * The log itself writes past these streams. Gives what ends this.
 */
export const takeOutput = (log: Pick<Logger, 'warn'>, now: () => number): (() => void) => {
  const rarely = createRarely(now, DAY_MS);
  const write = (chunk: string | Uint8Array, ...[encoding, written = encoding]: unknown[]): boolean => {
    const text = typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    const message = shorten(text.trim(), LONGEST_PRINTED);
    if (message !== '') rarely(message, (times) => log.warn({ message, times }, 'a library writes to the console'));
    if (typeof written === 'function') process.nextTick(written);
    return true;
  };
  const streams = [process.stdout, process.stderr].map((stream) => ({ stream, before: stream.write }));
  for (const { stream } of streams) stream.write = write;
  return () => {
    for (const { stream, before } of streams) stream.write = before;
  };
};
