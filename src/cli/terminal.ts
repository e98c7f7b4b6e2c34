/** What passes between a command and the person at the terminal: questions and progress. */
import { createInterface, type Interface } from 'node:readline';
import { Writable } from 'node:stream';
import { UsageError } from '../errors.ts';
import { escapeInvisible } from '../text.ts';
import type { CommandContext } from './context.ts';

interface PromptDependencies {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
  signal: AbortSignal;
  /** Called at Ctrl-C: while lines are edited, the terminal makes no signal of it. */
  interrupt(): void;
}

/**
 * Questions, one after the other. One reader for all, opened by the first: each of its own would lose the lines that were
 * pasted ahead. What is typed shows only while a question that is no secret waits.
 */
export const createPrompt = ({ input, output, signal, interrupt }: PromptDependencies) => {
  let reader: Interface | undefined;
  let isShown = false;
  let hasEnded = false;
  const ahead: string[] = [];
  let answer: ((line: string | undefined) => void) | undefined;

  const take = (line: string | undefined): void => {
    isShown = false;
    const waiting = answer;
    answer = undefined;
    if (waiting !== undefined) waiting(line);
    else if (line !== undefined) ahead.push(line);
  };

  const open = (): Interface => {
    const shown = new Writable({
      write: (chunk, _encoding, done) => {
        if (isShown) output.write(chunk);
        done();
      },
    });
    const opened = createInterface({ input, output: shown, terminal: true, historySize: 0 });
    opened.on('line', take).on('SIGINT', interrupt);
    opened.once('close', () => {
      hasEnded = true;
      take(undefined);
    });
    signal.addEventListener('abort', () => opened.close(), { once: true });
    return opened;
  };

  const put = async (question: string, isSecret: boolean): Promise<string | undefined> => {
    reader ??= open();
    if (signal.aborted || hasEnded) return ahead.shift();
    const line = Promise.withResolvers<string | undefined>();
    const early = ahead.shift();
    if (early === undefined) answer = line.resolve;
    else line.resolve(early);
    isShown = true;
    reader.setPrompt(question);
    reader.prompt();
    isShown = early === undefined && !isSecret;
    const given = await line.promise;
    // The reader ends the line that it shows; of others nobody saw the end.
    if (isSecret || early !== undefined || given === undefined) output.write('\n');
    return given;
  };

  return {
    /** Undefined at the end of input, and at Ctrl-C. */
    ask: (question: string) => put(question, false),
    /** The same, unseen. */
    askSecret: (question: string) => put(question, true),
    close: (): void => reader?.close(),
  };
};

/** In single quotes, in which a shell replaces nothing. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Asks before something that cannot be taken back. Resolves where `yes` was given or a person at the terminal says so; throws a `UsageError` otherwise. `deed` goes on
 * from "this": `drops 12 deliveries`.
 */
export const confirm = async (
  { ask }: Pick<CommandContext, 'ask'>,
  deed: string,
  yes: boolean | undefined,
): Promise<void> => {
  if (yes === true) return;
  if (ask === undefined) throw new UsageError(`this ${deed}: say --yes to do it`);
  const answer = await ask(`This ${deed}. Go on? [y/N] `);
  if (!/^\s*y(es)?\s*$/i.test(answer ?? '')) throw new UsageError('nothing was done');
};

const CLEAR_LINE = '\r\u001b[K';

/** How far a long walk is, in one line of standard error that is drawn again; nothing where no terminal is. */
export const createProgress = ({
  isErrorTty,
  raw: { warn },
}: Pick<CommandContext, 'isErrorTty'> & { raw: Pick<CommandContext['raw'], 'warn'> }) => {
  let isDrawn = false;
  return {
    /** Replaces the line that stands there. One line, without line feeds. */
    show: (text: string): void => {
      if (!isErrorTty) return;
      warn(`${CLEAR_LINE}${escapeInvisible(text)}`);
      isDrawn = true;
    },
    /** Takes the line away. May be called again. */
    end: (): void => {
      if (isDrawn) warn(CLEAR_LINE);
      isDrawn = false;
    },
  };
};
