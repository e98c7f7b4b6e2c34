/** Where Node keeps compiled code between starts, which then take half as long. */
import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** Whoever can write there can make us run what they like: nobody else may. */
const isOurs = (directory: string): boolean => {
  const { uid, mode } = statSync(directory);
  return uid === process.getuid?.() && (mode & 0o022) === 0;
};

/**
 * A directory in the user's cache, made where it is missing. Undefined where it cannot be written, is not ours alone
 * (under sudo it would be somebody else's), or where the operator has named another one.
 */
export const compileCacheOf = (env: NodeJS.ProcessEnv): string | undefined => {
  const { NODE_COMPILE_CACHE: named, NODE_DISABLE_COMPILE_CACHE: disabled, XDG_CACHE_HOME: cacheHome = '' } = env;
  if (named !== undefined || disabled !== undefined) return undefined;
  try {
    const directory = join(isAbsolute(cacheHome) ? cacheHome : join(homedir(), '.cache'), 'tocsin');
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    return isOurs(dirname(directory)) && isOurs(directory) ? directory : undefined;
  } catch {
    // No home, or one that cannot be written: everything works without it.
    return undefined;
  }
};
