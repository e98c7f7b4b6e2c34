/** Commands as an operator types them, run in this process. */
import type { ProgramContext } from '../../src/cli/context.ts';
import { exitCodeOf, runProgram, wantsJson } from '../../src/cli/program.ts';
import type { Ended } from '../support/program.ts';

export interface Ran {
  code: number;
  /** Standard output and standard error. */
  out: string;
  err: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  signal?: AbortSignal;
  /** Left out: reading it fails. */
  stdin?: string | Uint8Array;
  /** What the person at the terminal answers; the question is in `err`. Left out: nobody sits there. */
  answer?: string;
  /** The same, one after the other, secrets too; then the input ends. */
  answers?: readonly string[];
  /** Which outputs are terminals. */
  tty?: { out?: boolean; err?: boolean };
  /** Columns of the terminal that standard output is. */
  width?: number;
  /** Called with what is written to standard output, at once. */
  onWrite?(text: string): void;
}

/** As the program does it, errors and exit code included. */
export const runInProcess = async (args: readonly string[], options: RunOptions = {}): Promise<Ran> => {
  const { env = {}, signal = new AbortController().signal, stdin, answer, answers, tty = {} } = options;
  const out: string[] = [];
  const err: string[] = [];
  const context: ProgramContext = {
    env,
    signal,
    onHangup: () => {},
    isTty: tty.out ?? false,
    isErrorTty: tty.err ?? false,
    ...(options.width === undefined ? {} : { width: options.width }),
    write: (text) => {
      out.push(text);
      options.onWrite?.(text);
    },
    warn: (text) => void err.push(text),
    readStdin: async () => {
      if (stdin === undefined) throw new Error('standard input was read');
      return Buffer.from(stdin);
    },
  };
  if (answer !== undefined || answers !== undefined) {
    const left = [...(answers ?? [])];
    context.ask = async (question) => {
      err.push(question);
      return answer ?? left.shift();
    };
    context.askSecret = context.ask;
  }
  const code = await runProgram(args, context).catch((error: unknown) => {
    const end = exitCodeOf(error, wantsJson(args));
    err.push(end.text);
    return end.code;
  });
  return { code, out: out.join(''), err: err.join('') };
};

/** `tocsin ARGS` in this process, with what it prints named as a process names it. */
export const runCommand = async (args: readonly string[], env: Record<string, string> = {}): Promise<Ended> => {
  const { code, out, err } = await runInProcess(args, { env });
  return { code, stdout: out, stderr: err };
};
