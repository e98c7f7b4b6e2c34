/**
 * One daemon for each data directory: a lease in `DATADIR/tocsin.lock`, renewed as long as its holder lives. The next
 * daemon takes over the lease of a killed one.
 */
import { randomUUID } from 'node:crypto';
import { type FileHandle, open, readFile, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '../errors.ts';
import { makePrivateDirectory } from '../private-file.ts';
import { iso } from '../time.ts';
import { isAlive } from './pid.ts';

/** What the file says of its holder. It is created only where there is none, and removed only while it is as it was judged. */
interface Lease {
  id: string;
  host: string;
  pid: number;
  /** ISO 8601; of constant length, so that a lease can be rewritten in place. */
  renewedAt: string;
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown error';

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

interface LockSettings {
  dataDir: string;
  /** Another daemon has the directory now, or it cannot be written: stop using it. Called once. */
  onLost(why: string): void;
  /** Default 2000. */
  renewEveryMs?: number;
  /** Default 10,000. */
  staleAfterMs?: number;
}

type Place = Required<LockSettings> & { file: string; id: string };

/** Leases of this process. A lease with our pid that is not among them is of an earlier process with the same pid. */
const ownLeases = new Set<string>();

/**
 * On this host the process table shows whether the holder lives. A lease of another host, or one that only looks old, is
 * watched: clocks differ and machines sleep, but a living holder renews meanwhile.
 */
const judge = async (lease: Lease, first: Lease, watchedMs: number, place: Place) => {
  if (ownLeases.has(lease.id) || lease.renewedAt !== first.renewedAt) return 'held';
  const isOld = Date.now() - Date.parse(lease.renewedAt) > place.staleAfterMs;
  if (lease.host === hostname()) {
    if (lease.pid === process.pid || !(await isAlive(lease.pid))) return 'stale';
    if (!isOld) return 'held';
  }
  return watchedMs > (isOld ? 2 * place.renewEveryMs : place.staleAfterMs) ? 'stale' : 'watch';
};

const refusal = ({ dataDir, file }: Place, { host, pid, renewedAt }: Lease): UsageError =>
  new UsageError(
    `the data directory ${dataDir} is in use by another Tocsin (process ${pid} on ${host}, seen ${renewedAt}): stop that one, or give this one another dataDir. The lock is ${file}`,
  );

const acquire = async (place: Place): Promise<FileHandle> => {
  let first: Lease | undefined;
  let watchedSince = performance.now();
  for (;;) {
    const handle = await createLease(place.file, place.id);
    if (handle !== undefined) return handle;
    const lease = await readLease(place.file);
    if (lease === undefined) continue;
    if (first?.id !== lease.id) {
      first = lease;
      watchedSince = performance.now();
    }
    const verdict = await judge(lease, first, performance.now() - watchedSince, place);
    if (verdict === 'held') throw refusal(place, lease);
    if (verdict === 'stale') await removeStaleLease(place.file, lease, place.staleAfterMs);
    await delay(20);
  }
};

/** Renews by writing to the open handle of the file that it created, so that it never overwrites another daemon's lease. */
const keepRenewing = (created: FileHandle, { file, id, renewEveryMs, staleAfterMs, onLost }: Place) => {
  let handle = created;
  let renewedAt = performance.now();
  let work = Promise.resolve();
  let isLost = false;
  // On a slow disk several renewals may find the same loss.
  const lose = (why: string): void => {
    clearInterval(timer);
    if (isLost) return;
    isLost = true;
    onLost(why);
  };
  const renew = async (): Promise<void> => {
    const lease = await readLease(file);
    if (lease !== undefined && lease.id !== id) {
      return lose(`${file} belongs to process ${lease.pid} on ${lease.host} now`);
    }
    // Deleted by hand, perhaps: created again unless another daemon is faster.
    const again = lease === undefined ? await createLease(file, id) : undefined;
    if (again === undefined) {
      await renewLease(handle, id);
    } else {
      await handle.close();
      handle = again;
    }
    renewedAt = performance.now();
  };
  const timer = setInterval(() => {
    work = work.then(renew).catch((error: unknown) => {
      if (performance.now() - renewedAt > staleAfterMs) lose(`${file} cannot be renewed (${codeOf(error)})`);
    });
  }, renewEveryMs).unref();
  return async (): Promise<void> => {
    clearInterval(timer);
    await work;
    await handle.close();
  };
};

/**
 * Takes the directory, making it where it is missing. Waits only while it does not know whether a holder on another host
 * still lives. Throws a `UsageError` that names the holder, or says that the directory cannot be written.
 */
export const lockDataDir = async (settings: LockSettings) => {
  const dataDir = resolve(settings.dataDir);
  const file = join(dataDir, 'tocsin.lock');
  const id = randomUUID();
  const place = { renewEveryMs: 2000, staleAfterMs: 10_000, ...settings, dataDir, file, id };
  ownLeases.add(id);
  const handle = await makePrivateDirectory(dataDir)
    .then(() => acquire(place))
    .catch((error: unknown) => {
      ownLeases.delete(id);
      if (error instanceof UsageError) throw error;
      throw new UsageError(`the data directory ${dataDir} cannot be written (${codeOf(error)})`, { cause: error });
    });
  const endRenewing = keepRenewing(handle, place);
  const isHeld = async () => (await readLease(file).catch(() => undefined))?.id === id;
  return {
    /** The lock file. */
    file,
    /** Asks the file itself, so that a takeover is known before the next renewal finds it. */
    isHeld,
    /** May be called again. */
    release: async (): Promise<void> => {
      if (!ownLeases.delete(id)) return;
      await endRenewing();
      if (await isHeld()) await unlink(file).catch(() => {});
    },
  };
};

export type DataDirLock = Awaited<ReturnType<typeof lockDataDir>>;
