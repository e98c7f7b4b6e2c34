/** What can be known of a process from outside. */
import { readFileSync, readlinkSync } from 'node:fs';
import { readFile, readlink } from 'node:fs/promises';
import { orUndefined } from '../errors.ts';

const accepts = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // It exists, but belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/** False also for a process that has ended and only waits to be collected, where the system shows it (Linux). */
export const isAlive = async (pid: number): Promise<boolean> => {
  if (!accepts(pid)) return false;
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // `pid (name) state ...`; the name may hold parentheses itself.
  return !/^\s[ZX]\s/.test(stat.slice(stat.lastIndexOf(')') + 1));
};

/** Undefined where the process is gone, belongs to somebody else, or the system does not show it (not Linux). */
export const workingDirectoryOf = (pid: number): Promise<string | undefined> =>
  readlink(`/proc/${pid}/cwd`).catch(() => undefined);

const shown = (read: () => string): string => orUndefined(read)?.trim() ?? '';

/** Among which processes our pids count: in another container the same pid is another process. '' where it does not show. */
export const pidNamespace = (): string => shown(() => readlinkSync('/proc/self/ns/pid'));

/** Which kernel runs us, and since when: the same for all containers of a machine. '' where it does not show. */
export const bootId = (): string => shown(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
