/** The commands as an operator types them, run in this process on a world's configuration. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CommandContext } from '../../src/cli/context.ts';
import { exitCodeOf, runProgram } from '../../src/cli/program.ts';
import type { World } from '../scenario/world.ts';

export interface Ended {
  code: number;
  /** Standard output and standard error. */
  out: string;
  err: string;
}

export interface Console {
  /** `tocsin ARGS`. */
  run(...args: string[]): Promise<Ended>;
  /** The same with `--json`, which has to end well; gives what was printed. */
  json<T>(...args: string[]): Promise<T>;
  /** A person sits at the terminal and answers this from now on. */
  answer(text: string): void;
  /** What that person was asked. */
  asked: string[];
  /** Ctrl-C, for what runs now and what is run afterwards. */
  interrupt(): void;
}

export const openConsole = async ({ configText, environment, dataDir }: World): Promise<Console> => {
  const file = join(dataDir, 'console.yaml');
  await writeFile(file, configText);
  const asked: string[] = [];
  const stop = new AbortController();
  let answer: string | undefined;
  const ask = async (question: string): Promise<string> => {
    asked.push(question);
    return answer ?? '';
  };

  const run = async (...args: string[]): Promise<Ended> => {
    const out: string[] = [];
    const err: string[] = [];
    const context: CommandContext = {
      env: { ...environment, TOCSIN_CONFIG: file },
      signal: stop.signal,
      isTty: false,
      isErrorTty: false,
      write: (text) => void out.push(text),
      warn: (text) => void err.push(text),
      readStdin: async () => new Uint8Array(),
      ...(answer === undefined ? {} : { ask }),
    };
    const code = await runProgram(args, context).catch((error: unknown) => {
      const end = exitCodeOf(error);
      err.push(end.text);
      return end.code;
    });
    return { code, out: out.join(''), err: err.join('') };
  };

  return {
    run,
    json: async <T>(...args: string[]) => {
      const { code, out, err } = await run(...args, '--json');
      if (code !== 0) throw new Error(`it ended with ${code}: ${err}`);
      return JSON.parse(out) as T;
    },
    answer: (text) => {
      answer = text;
    },
    asked,
    interrupt: () => stop.abort(new Error('stopped by SIGINT')),
  };
};
