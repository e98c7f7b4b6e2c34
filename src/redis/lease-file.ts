/** The file that names the holder of a data directory: created only where there is none, removed only while it is as it was judged. */
import { type FileHandle, open, readFile, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { iso } from '../time.ts';

export interface Lease {
  id: string;
  host: string;
  pid: number;
  /** ISO 8601; of constant length, so that a lease can be rewritten in place. */
  renewedAt: string;
}

export const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown error';

/** This process' lease as it is written now. */
const textOf = (id: string): string => {
  const lease: Lease = { id, host: hostname(), pid: process.pid, renewedAt: iso(Date.now()) };
  return `${JSON.stringify(lease)}\n`;
};

const parseLease = (text: string): Lease | undefined => {
  try {
    const { id, host, pid, renewedAt }: Partial<Record<keyof Lease, unknown>> = JSON.parse(text);
    const isLease =
      typeof id === 'string' && typeof host === 'string' && typeof pid === 'number' && typeof renewedAt === 'string';
    return isLease ? { id, host, pid, renewedAt } : undefined;
  } catch {
    return undefined;
  }
};

/** Undefined where there is none. A lease that its writer could not finish has the file's time. */
export const readLease = async (file: string): Promise<Lease | undefined> => {
  try {
    const unfinished = async () => ({ pid: 0, renewedAt: (await stat(file)).mtime.toISOString() });
    return (
      parseLease(await readFile(file, 'utf8')) ?? { id: 'unfinished', host: 'unknown host', ...(await unfinished()) }
    );
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/** Undefined where there is a lease already. */
export const createLease = async (file: string, id: string): Promise<FileHandle | undefined> => {
  try {
    const handle = await open(file, 'wx', 0o600);
    await renewLease(handle, id);
    return handle;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
};

export const renewLease = async (handle: FileHandle, id: string): Promise<void> => {
  await handle.write(textOf(id), 0);
};

/**
 * Removes exactly the lease that was judged. Two daemons may have judged the same one; without the second, short lock
 * the slower would remove the lease that the faster has just made.
 */
export const removeStaleLease = async (file: string, stale: Lease, staleAfterMs: number): Promise<void> => {
  const guard = `${file}.takeover`;
  const handle = await open(guard, 'wx', 0o600).catch(() => undefined);
  if (handle === undefined) {
    const since = await stat(guard).catch(() => undefined);
    if (since !== undefined && Date.now() - since.mtimeMs > staleAfterMs) await unlink(guard).catch(() => {});
    return;
  }
  try {
    const lease = await readLease(file);
    if (lease?.id === stale.id && lease.renewedAt === stale.renewedAt) await unlink(file);
  } finally {
    await handle.close();
    await unlink(guard);
  }
};
