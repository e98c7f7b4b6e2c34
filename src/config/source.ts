/** The config file of a daemon that runs: read again, and watched with the files of secrets that it names. */

import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { isObject } from '../alert.ts';
import { UsageError } from '../errors.ts';
import { isSecret } from '../secret.ts';
import { loadFile } from './load.ts';
import type { Path } from './problems.ts';
import { type Config, shape } from './schema.ts';
import { type Environment, type OnFile, type ReadResult, readText } from './variables.ts';

type Tree = Readonly<Record<string, unknown>>;

const isTree = (value: unknown): value is Tree => isObject(value) && !isSecret(value);

/** Services are known by their names, so that one that is added in the middle is one change. */
export const byName = (services: Config['services']): Tree =>
  Object.fromEntries(services.map(({ name, ...service }) => [name, service]));

/** With the values of secrets, to be compared. */
export const revealed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(revealed);
  if (typeof value !== 'object' || value === null) return value;
  if (isSecret(value)) return { secret: value.reveal() };
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, revealed(each)]));
};

const differing = (before: unknown, after: unknown, path: Path): Path[] => {
  if (!isTree(before) || !isTree(after)) return isDeepStrictEqual(revealed(before), revealed(after)) ? [] : [path];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differing(before[key], after[key], [...path, key]));
};

/** In the schema a service stands in a list. */
const inSchema = (path: Path): Path => (path[0] === 'services' ? path.map((key, at) => (at === 1 ? 0 : key)) : path);

/** As the operator wrote it: what the program makes of a text has no keys of its own in the file. */
const written = (path: Path): Path => {
  const end = path.findIndex((_, at) => {
    const types = shape.typesAt(inSchema(path.slice(0, at + 1)));
    return !types.includes('object') && !types.includes('array');
  });
  return end < 0 ? path : path.slice(0, end + 1);
};

/**
 * What is different in another config, by key and never by value. A section or entry that is new or gone is one change; a
 * list is compared as a whole.
 */
export const changesOf = (before: Config, after: Config): Path[] => {
  const [one, other] = [before, after].map((config) => ({ ...config, services: byName(config.services) }));
  const paths = differing(one, other, []).map(written);
  return [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
};

/** What is opened once, when the process starts. */
const RESTART_ONLY: readonly Path[] = [['redis'], ['dataDir'], ['ops', 'listen'], ['ops', 'probes']];

export const needsRestart = (path: Path): boolean =>
  RESTART_ONLY.some((only) => only.every((key, index) => path[index] === key));

interface Content {
  read: ReadResult;
  /** A file that is too large is the same again where it is read with the same limit. */
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

/** To read a pipe again is to wait until somebody writes to it, with everything else that this process does. */
const isPipe = async (file: string): Promise<boolean> => {
  const found = await stat(file).catch(() => undefined);
  return found !== undefined && !found.isFile() && !found.isDirectory();
};

export type ConfigSource = ReturnType<typeof createConfigSource>;

export const createConfigSource = (file: string, environment: Environment) => {
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
    /** Those that the last `read` has read. */
    files: (): string[] => [...last.keys()],
    /** Of what the last `read` has read, right or wrong: the same for the same content of the same files. */
    readPrint: (): string => (refusedPipe === undefined ? printOf(last) : printOfPipe(refusedPipe)),
    /** The same of what is on disk now. Undefined where that cannot be looked at without taking it away. */
    diskPrint: async (): Promise<string | undefined> => {
      const pipes = await findPipes();
      // Somebody has to know what has taken the place of a file since.
      const replacing = pipes.find((pipe) => !ownPipes.includes(pipe));
      if (replacing !== undefined) return printOfPipe(replacing);
      if (pipes.length > 0) return undefined;
      const again = [...last].map(([each, { limitBytes }]): [string, Content] => {
        return [each, { read: readText(each, limitBytes), limitBytes }];
      });
      return printOf(new Map(again));
    },
    /** File, secrets and variables again. Throws a `ConfigError`, and a `UsageError` where they can be read once only. */
    read: async (): Promise<Config> => {
      const isFirst = last.size === 0;
      refusedPipe = isFirst ? undefined : (await findPipes())[0];
      if (refusedPipe !== undefined) {
        throw new UsageError(
          `${refusedPipe} is a pipe or a device, which can be read at the start only: restart the daemon to change it`,
        );
      }
      const contents = new Map<string, Content>();
      try {
        const onFile: OnFile = (each, read, limitBytes) => contents.set(each, { read, limitBytes });
        return loadFile(file, environment, { onFile }).config;
      } finally {
        last = contents;
        if (isFirst) ownPipes = await findPipes();
      }
    },
  };
};
