/** What every command gets from the outside world, and how it says how it ended. */
import { styleText } from 'node:util';
import { escapeInvisible } from '../text.ts';

type Format = Parameters<typeof styleText>[0];

/** As https://no-color.org and FORCE_COLOR have it: the environment may say no or yes, else a terminal does. */
export const isColoured = (
  { NO_COLOR: no = '', FORCE_COLOR: force, TERM: term }: Readonly<Record<string, string | undefined>>,
  isTty: boolean,
): boolean => {
  if (force !== undefined) return force !== '0' && force !== 'false';
  return no === '' && isTty && term !== 'dumb';
};

const paint = (format: Format, text: string): string => styleText(format, text, { validateStream: false });

const RULES: readonly [pattern: RegExp, format: Format][] = [
  // The heads of a table, and the titles of sections.
  [/^ *[A-Z]+…?(?: [A-Z()]+…?)*(?: {2,}[A-Z][A-Z ()…]*)+$/gm, ['bold', 'dim']],
  [
    /^(?:Daemons|Services|Destinations|Mutes|Queues|Protocols|Not watched|Detectors|Assets|Channels)(?: \(\d+\))?$/gm,
    'bold',
  ],
  [/^Needs a look(?=$|: )/gm, ['bold', 'yellow']],
  [/^ok(?= {2})/gm, 'green'],
  [/^FAIL(?= {2})/gm, ['bold', 'red']],
  [/(?<=: )delivered(?= )/g, 'green'],
  [/(?<=: )dead, (?:kept|no longer kept)|failed for good/g, 'red'],
];

/** Colours for a terminal: on heads, and on the words that say how it stands. `text` is safe to show already. */
export const painted = (text: string): string =>
  RULES.reduce((done, [pattern, format]) => done.replace(pattern, (found) => paint(format, found)), text);

/** Contract, section 1. */
export const EXIT = { done: 0, mistake: 1, finding: 2, temporary: 75 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The two outputs; what others wrote is escaped on the way to them. */
interface Output {
  /** To standard output. */
  write(text: string): void;
  /** To standard error. */
  warn(text: string): void;
}

export interface CommandContext extends Output {
  env: Readonly<Record<string, string | undefined>>;
  /** Aborted by the first SIGINT, SIGTERM or SIGHUP. */
  signal: AbortSignal;
  /** From now on SIGHUP calls this and ends nothing, unless the terminal is gone. */
  onHangup(listener: () => void): void;
  /** Standard output is a terminal. */
  isTty: boolean;
  /** Standard error is a terminal, so that progress may be drawn there. */
  isErrorTty: boolean;
  /** The same as `write`, coloured where standard output shows colours. */
  show(text: string): void;
  /** Columns of the terminal that standard output is; undefined where it is none. */
  width?: number;
  /** The same as it is, for our own colours and for lines that are drawn again. */
  raw: Output;
  /** Puts a question to the person at the terminal; absent where nobody sits there. Undefined at the end of input. */
  ask?(question: string): Promise<string | undefined>;
  /** The same, and what is typed does not show. */
  askSecret?(question: string): Promise<string | undefined>;
  /** Everything on standard input, up to its end. */
  readStdin(): Promise<Uint8Array>;
}

/** Resolves when the person, or a supervisor, wants an end. */
export const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

/** What `main.ts` gives: its outputs write what they get. */
export interface ProgramContext extends Omit<CommandContext, 'raw' | 'show'> {
  /** Standard output shows colours. */
  isColoured?: boolean;
}

/** What others wrote moves no cursor of a terminal and turns no line around, wherever a command prints it. */
export const escapingContext = (context: ProgramContext): CommandContext => {
  const { ask, askSecret, isColoured = false, ...rest } = context;
  const colour = isColoured ? painted : (text: string) => text;
  return {
    ...rest,
    write: (text) => context.write(escapeInvisible(text)),
    warn: (text) => context.warn(escapeInvisible(text)),
    show: (text) => context.write(colour(escapeInvisible(text))),
    raw: { write: context.write, warn: context.warn },
    ...(ask === undefined ? {} : { ask: (question: string) => ask(escapeInvisible(question)) }),
    ...(askSecret === undefined ? {} : { askSecret: (question: string) => askSecret(escapeInvisible(question)) }),
  };
};

/** Options that every command takes. */
export interface CommonOptions {
  config: string;
  json?: boolean;
}

/** What a command does. Its arguments stand among its options, under the names they were declared with. */
export type Action<Options = unknown> = (
  options: Options & CommonOptions,
  context: CommandContext,
) => Promise<ExitCode>;

export const writeJson = ({ write }: CommandContext, value: unknown): void =>
  write(`${JSON.stringify(value, null, 2)}\n`);

/** Prints data for a script, else the same as text for a person. */
export const answer = (
  context: CommandContext,
  { json = false }: CommonOptions,
  data: unknown,
  text: () => string,
  print = context.write,
): ExitCode => {
  if (json) writeJson(context, data);
  else print(text());
  return EXIT.done;
};
