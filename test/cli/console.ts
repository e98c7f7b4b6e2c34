/** The commands as an operator types them, run in this process on a world's configuration. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '../scenario/world.ts';
import { type Ran, runInProcess } from './in-process.ts';

export interface Console {
  /** `tocsin ARGS`. */
  run(...args: string[]): Promise<Ran>;
  /** The same with `--json`, which has to end well; gives what was printed. */
  json<T>(...args: string[]): Promise<T>;
  /** A person sits at the terminal and answers this from now on. */
  answer(text: string): void;
  /** Ctrl-C, for what runs now and what is run afterwards. */
  interrupt(): void;
}

export const openConsole = async ({ configText, environment, dataDir }: World): Promise<Console> => {
  const file = join(dataDir, 'console.yaml');
  await writeFile(file, configText);
  const stop = new AbortController();
  let answer: string | undefined;

  const run = (...args: string[]): Promise<Ran> =>
    runInProcess(args, {
      env: { ...environment, TOCSIN_CONFIG: file },
      signal: stop.signal,
      ...(answer === undefined ? {} : { answer }),
    });

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
    interrupt: () => stop.abort(new Error('stopped by SIGINT')),
  };
};
