/** What `tocsin init` writes: the config, and the file of variables beside it. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { envFileOf } from '../config/env-file.ts';
import { messageOf, UsageError } from '../errors.ts';
import { replacePrivateFile } from '../private-file.ts';
import type { InitOptions, Variables } from './init-answers.ts';
import { envText } from './init-config.ts';

/** Throws where there is a config already, unless it may be replaced. */
export const refuseOverwrite = async ({ config: file, force = false }: InitOptions): Promise<void> => {
  const isThere = await readFile(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
  if (!isThere || force) return;
  throw new UsageError(
    `there is a ${file} already, and it stays as it is: tocsin check --online tries it, tocsin init --force writes another, --config names another file`,
  );
};

/** One that cannot be read is not replaced: it may hold variables of others. */
const readIfThere = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });

/** Gives the file of variables, where it has any. They come first: a config without them would not start. */
export const writeFiles = async (
  { config: file, force = false }: InitOptions,
  text: string,
  variables: Variables,
): Promise<string | undefined> => {
  const envFile = envFileOf(file);
  const hasGiven = Object.keys(variables.given).length > 0;
  try {
    await mkdir(dirname(file), { recursive: true });
    if (hasGiven) {
      const before = await readIfThere(envFile);
      await replacePrivateFile(envFile, envText(before, variables.given));
    }
    await writeFile(file, text, { flag: force ? 'w' : 'wx' });
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`${file} cannot be written: ${messageOf(error)}`);
  }
  return hasGiven ? envFile : undefined;
};
