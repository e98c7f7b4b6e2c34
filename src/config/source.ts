/** The config file of a daemon that runs: read again, and watched with the files of secrets that it names. */
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { UsageError } from '../errors.ts';
import type { Environment } from './interpolate.ts';
import { loadNoting } from './load.ts';
import { type ReadResult, readText } from './read.ts';
import type { Config } from './schema.ts';

export interface ConfigSource {
  file: string;
  /**
   * Reads file, secrets and variables again. Throws a `ConfigError` with every problem found, and a `UsageError` where the
   * file can be read once only.
   */
  read(): Promise<Config>;
  /** Of what the last `read` has read, right or wrong: the same for the same content of the same files. */
  readPrint(): string;
  /** The same of what is on disk now. Undefined where that cannot be looked at without taking it away. */
  diskPrint(): Promise<string | undefined>;
}

interface Content {
  read: ReadResult;
  /** A file that is too large differs no more where it is read with the same limit again. */
  limitBytes: number;
}

type Contents = ReadonlyMap<string, Content>;

/** It never leaves this process: a short secret could be guessed from it. */
const printOf = (contents: Contents): string => {
  const hash = createHash('sha256');
  for (const [file, { read }] of contents) hash.update(JSON.stringify([file, read.ok, read.ok ? read.text : read.why]));
  return hash.digest('hex');
};

/** As good as a content: another one is there when it is gone. */
const printOfPipe = (file: string): string => `pipe ${file}`;

/** To read a pipe again is to wait for whoever writes to it, with everything else that this process does. */
const isPipe = async (file: string): Promise<boolean> => {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && !found.isFile() && !found.isDirectory();
};

export const createConfigSource = (file: string, environment: Environment): ConfigSource => {
  let last: Contents = new Map();
  /** Those that were pipes at the start: they were read then, and never again. */
  let ownPipes: readonly string[] = [];
  /** What has taken the place of a file, and was refused. */
  let refusedPipe: string | undefined;
  const findPipes = async (): Promise<string[]> => {
    const pipes: string[] = [];
    for (const each of new Set([file, ...last.keys()])) if (await isPipe(each)) pipes.push(each);
    return pipes;
  };
  return {
    file,
    readPrint: () => (refusedPipe === undefined ? printOf(last) : printOfPipe(refusedPipe)),
    diskPrint: async () => {
      const pipes = await findPipes();
      // What has taken the place of a file since has to be told.
      const replacing = pipes.find((pipe) => !ownPipes.includes(pipe));
      if (replacing !== undefined) return printOfPipe(replacing);
      if (pipes.length > 0) return undefined;
      const again = [...last].map(([each, { limitBytes }]): [string, Content] => {
        return [each, { read: readText(each, limitBytes), limitBytes }];
      });
      return printOf(new Map(again));
    },
    read: async () => {
      const isFirst = last.size === 0;
      refusedPipe = isFirst ? undefined : (await findPipes())[0];
      if (refusedPipe !== undefined) {
        throw new UsageError(
          `${refusedPipe} is a pipe or a device, which can be read at the start only: restart the daemon to change it`,
        );
      }
      const contents = new Map<string, Content>();
      try {
        return loadNoting(file, environment, (each, read, limitBytes) => contents.set(each, { read, limitBytes }));
      } finally {
        last = contents;
        if (isFirst) ownPipes = await findPipes();
      }
    },
  };
};
