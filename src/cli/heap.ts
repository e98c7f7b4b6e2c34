/**
 * Left alone, V8 keeps garbage for as long as the machine has memory. Node takes the flags that bound this at its start
 * only, so a daemon replaces itself once, within the same process, by one that has them. They cap nothing: a daemon with
 * much to remember still gets what it needs.
 */

import { mkdirSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { setFlagsFromString } from 'node:v8';

const FLAGS = {
  /** MB that young objects may take before they are looked through, instead of 64. Less costs CPU. */
  '--max-semi-space-size': 8,
  /** The heap is collected when it has grown by this share since the last time, instead of up to fourfold. */
  '--heap-growing-percent': 50,
};

/**
 * For glibc. Threads share one pool of native memory: each of V8's would have a pool of its own that keeps what it freed,
 * and so little is allocated there that nobody waits for it. What is free at the pool's end is given back.
 */
const ENVIRONMENT = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

/**
 * Of libuv, which has 4 by itself. A lookup of a name holds one of them until the name servers answer, and lookups get half of
 * all: see `channels/resolver.ts`.
 */
export const THREADS = 128;

interface Start {
  /** Of the program, without Node's. */
  args: readonly string[];
  /** Node's own. */
  execArgv: readonly string[];
  nodeOptions?: string | undefined;
}

const TAKES_VALUE = ['-c', '--config'];

const commandOf = (args: readonly string[]): string | undefined =>
  args.find((arg, at) => !arg.startsWith('-') && !TAKES_VALUE.includes(args[at - 1] ?? ''));

/** Commands that stay. All others end soon, and need not wait for a second start. */
export const staysUp = (args: readonly string[]): boolean => {
  const first = commandOf(args);
  if (first !== undefined) return ['run', 'demo'].includes(first);
  return !args.some((arg) => ['--help', '-h', '--version', '-V'].includes(arg));
};

/** The daemon itself, named or by default. */
export const isRun = (args: readonly string[]): boolean => staysUp(args) && commandOf(args) !== 'demo';

/** The flags that are still missing. What an operator has set in NODE_OPTIONS or on Node's command line stands. */
export const missingHeapFlags = ({ args, execArgv, nodeOptions = '' }: Start): string[] => {
  if (!staysUp(args)) return [];
  const given = [...execArgv, ...nodeOptions.split(/\s+/)].map((option) => option.split('=')[0]?.replaceAll('_', '-'));
  return Object.entries(FLAGS)
    .filter(([flag]) => !given.includes(flag))
    .map(([flag, value]) => `${flag}=${value}`);
};

/** Returns where nothing is missing; otherwise the program restarts, with the same process id. */
export const restartWithHeapFlags = (env: NodeJS.ProcessEnv): void => {
  const { platform, argv, execArgv, execPath, execve } = process;
  const missing = missingHeapFlags({ args: argv.slice(2), execArgv, nodeOptions: env.NODE_OPTIONS });
  if (missing.length === 0 || platform === 'win32' || execve === undefined) return;
  execve(execPath, [execPath, ...missing, ...execArgv, ...argv.slice(1)], { ...ENVIRONMENT, ...env });
};

/**
 * While a daemon starts, almost all that it allocates is there to stay, and would blow up the young generation for good:
 * by 20 MB, native memory included. So it keeps its first size, one MB, until there is work.
 */
export const holdYoungGeneration = (): void => setFlagsFromString('--semi-space-growth-factor=1');

/** V8's default: it doubles under load, up to its bound, and shrinks when there is little to do. */
export const releaseYoungGeneration = (): void => setFlagsFromString('--semi-space-growth-factor=2');

/** Everybody who can write there can make us run any code: nobody else may. */
const isOurs = (directory: string): boolean => {
  const { uid, mode } = statSync(directory);
  return uid === process.getuid?.() && (mode & 0o022) === 0;
};

/**
 * Where Node keeps compiled code between starts, which then take half as long: a directory in the user's cache, made where it
 * is missing. Undefined where it cannot be written, is not ours alone
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
