/**
 * Variables from a file beside the config: `tocsin.env` beside `tocsin.yaml`. So nobody has to export a secret, and
 * none stands in the config itself. The environment wins.
 */
import { dirname, join, parse } from 'node:path';
import { parseEnv } from 'node:util';
import type { Environment, OnFile } from './interpolate.ts';
import { NO_SUCH_FILE, readText } from './read.ts';

const LARGEST_FILE_BYTES = 65_536;

export const envFileOf = (configFile: string): string => join(dirname(configFile), `${parse(configFile).name}.env`);

export interface Variables {
  environment: Environment;
  /** How to set a variable that is missing; goes on from "which is not set". */
  hint: string;
}

/** Node's reader of `NAME=value` lines; what it cannot read as one is left out. */
export const readEnvText = (text: string): Record<string, string> =>
  Object.fromEntries(Object.entries(parseEnv(text)).map(([name, value]) => [name, value ?? '']));

/** A variable that is set but empty counts as none, as where Compose passes one on that nobody has set. */
export const withEnvFile = (configFile: string, environment: Environment, onFile: OnFile = () => {}): Variables => {
  const file = envFileOf(configFile);
  const read = readText(file, LARGEST_FILE_BYTES);
  onFile(file, read, LARGEST_FILE_BYTES);
  if (!read.ok) {
    const why = read.why === NO_SUCH_FILE ? '' : `, which cannot be read: ${read.why}`;
    return { environment, hint: `: export it, or write it into ${file}${why}` };
  }
  const isGiven = ([, value]: [string, string | undefined]): boolean => value !== undefined && value !== '';
  const given = Object.fromEntries(Object.entries(environment).filter(isGiven));
  return {
    environment: { ...environment, ...readEnvText(read.text), ...given },
    hint: `: export it, or write it into ${file}`,
  };
};
