/**
 * One daemon for each data directory: it has the directory's lock in the kernel, where there is one, and a lease in
 * `DATADIR/tocsin.lock`, renewed as long as it lives. The lease says who it is, and counts also where daemons of several
 * machines see the directory. The next daemon takes over the lease of a killed one.
 */
import { randomUUID } from 'node:crypto';
import { access, constants, type FileHandle, open, readFile, stat, unlink } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { UsageError } from '../errors.ts';
import { lockDirectory, makePrivateDirectory } from '../private-file.ts';
import { iso } from '../time.ts';
import { bootId, isAlive, pidNamespace } from './pid.ts';

interface Own {
  id: string;
  /** It has the lock in the kernel. */
  isLocked: boolean;
  /** When the private Redis answered last, in epoch milliseconds. Default: now. */
  answeredAt?: (() => number) | undefined;
}

/** What the file says of its holder. It is created only where there is none, and removed only while it is as it was judged. */
interface Lease extends Pick<Own, 'id' | 'isLocked'> {
  host: string;
  pid: number;
  /** Among which processes `pid` counts, and of which run of which kernel. */
  pids: string;
  boot: string;
  /** ISO 8601; of constant length, so that a lease can be rewritten in place. */
  renewedAt: string;
  /** The same of the last answer of its Redis; absent where it does not say. */
  answeredAt?: string;
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown error';

/** Where our process ids count: containers may share the name of their host, and a restarted machine keeps it. */
const here = () => ({ host: hostname(), pids: pidNamespace(), boot: bootId() });

/** This process' lease as it is written now. */
const textOf = ({ id, isLocked, answeredAt = Date.now }: Own): string => {
  const times = { renewedAt: iso(Date.now()), answeredAt: iso(answeredAt()) };
  const lease: Lease = { id, isLocked, ...here(), pid: process.pid, ...times };
  return `${JSON.stringify(lease)}\n`;
};

const parseLease = (text: string): Lease | undefined => {
  try {
    const lease: Partial<Record<keyof Lease, unknown>> = JSON.parse(text);
    const texts = [lease.id, lease.host, lease.pids, lease.boot, lease.renewedAt];
    const isLease = texts.every((each) => typeof each === 'string') && typeof lease.pid === 'number';
    return isLease ? (lease as Lease) : undefined;
  } catch {
    return undefined;
  }
};

/** Undefined where there is none. A lease that its writer could not finish has the file's time. */
export const readLease = async (file: string): Promise<Lease | undefined> => {
  try {
    const lease = parseLease(await readFile(file, 'utf8'));
    if (lease !== undefined) return lease;
    const renewedAt = (await stat(file)).mtime.toISOString();
    return { id: 'unfinished', host: 'unknown host', pid: 0, pids: '', boot: '', isLocked: false, renewedAt };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/** Undefined where there is a lease already. */
export const createLease = async (file: string, own: Own): Promise<FileHandle | undefined> => {
  try {
    const handle = await open(file, 'wx', 0o600);
    await renewLease(handle, own);
    return handle;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return undefined;
    throw error;
  }
};

export const renewLease = async (handle: FileHandle, own: Own): Promise<void> => {
  await handle.write(textOf(own), 0);
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
  answeredAt?: Own['answeredAt'];
  renewEveryMs?: number;
  staleAfterMs?: number;
  /** The program that asks the kernel. Default `flock`. */
  flock?: string;
}

const STALE_AFTER_MS = 10_000;

type Place = Required<Omit<LockSettings, 'flock' | 'answeredAt'>> & { file: string; own: Own };

/** Leases of this process. A lease with our pid that is not among them is of an earlier process with the same pid. */
const ownLeases = new Set<string>();

const isOlder = ({ renewedAt }: Lease, ms: number): boolean => Date.now() - Date.parse(renewedAt) > ms;

/** Its process is one that we would see. */
const isNear = ({ host, pids, boot }: Lease): boolean => {
  const ours = here();
  return host === ours.host && pids === ours.pids && boot === ours.boot;
};

/**
 * The kernel would not have given us the directory while a holder of this machine that had it lives. Among our own
 * processes the process table shows whether one lives. A lease of another host or container, or one that only looks old,
 * is watched: clocks differ and machines sleep, but a living holder renews meanwhile.
 */
const judge = async (lease: Lease, first: Lease, watchedMs: number, place: Place) => {
  if (ownLeases.has(lease.id) || lease.renewedAt !== first.renewedAt) return 'held';
  if (place.own.isLocked && lease.isLocked && lease.boot !== '' && lease.boot === bootId()) return 'stale';
  const isOld = isOlder(lease, place.staleAfterMs);
  if (isNear(lease)) {
    if (lease.pid === process.pid || !(await isAlive(lease.pid))) return 'stale';
    if (!isOld) return 'held';
  }
  return watchedMs > (isOld ? 2 * place.renewEveryMs : place.staleAfterMs) ? 'stale' : 'watch';
};

const refusal = (dataDir: string, file: string, lease: Lease | undefined): UsageError => {
  const who = lease === undefined ? '' : ` (process ${lease.pid} on ${lease.host}, seen ${lease.renewedAt})`;
  return new UsageError(
    `the data directory ${dataDir} is in use by another Tocsin${who}: stop that one, or give this one another dataDir. The lock is ${file}`,
  );
};

const acquire = async (place: Place): Promise<FileHandle> => {
  let first: Lease | undefined;
  let watchedSince = performance.now();
  for (;;) {
    const handle = await createLease(place.file, place.own);
    if (handle !== undefined) return handle;
    const lease = await readLease(place.file);
    if (lease === undefined) continue;
    if (first?.id !== lease.id) {
      first = lease;
      watchedSince = performance.now();
    }
    const verdict = await judge(lease, first, performance.now() - watchedSince, place);
    if (verdict === 'held') throw refusal(place.dataDir, place.file, lease);
    if (verdict === 'stale') await removeStaleLease(place.file, lease, place.staleAfterMs);
    await delay(20);
  }
};

/** Renews by writing to the open handle of the file that it created, so that it never overwrites another daemon's lease. */
const keepRenewing = (created: FileHandle, { file, own, renewEveryMs, staleAfterMs, onLost }: Place) => {
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
    if (lease !== undefined && lease.id !== own.id) {
      return lose(`${file} belongs to process ${lease.pid} on ${lease.host} now`);
    }
    // Deleted by hand, perhaps: created again unless another daemon is faster.
    const again = lease === undefined ? await createLease(file, own) : undefined;
    if (again === undefined) {
      await renewLease(handle, own);
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

/** Both locks, or none. */
const takeBoth = async (settings: LockSettings, dataDir: string, file: string, id: string) => {
  await makePrivateDirectory(dataDir);
  const kernel = await lockDirectory(dataDir, settings.flock);
  if (kernel === 'taken') throw refusal(dataDir, file, await readLease(file));
  const own = { id, isLocked: kernel !== undefined, answeredAt: settings.answeredAt };
  const place: Place = { renewEveryMs: 2000, staleAfterMs: STALE_AFTER_MS, ...settings, dataDir, file, own };
  try {
    return { kernel, endRenewing: keepRenewing(await acquire(place), place) };
  } catch (error) {
    await kernel?.close();
    throw error;
  }
};

const fileIn = (dataDir: string): string => join(dataDir, 'tocsin.lock');

const unwritable = (dataDir: string, error: unknown): UsageError =>
  new UsageError(
    `the data directory ${dataDir} cannot be written (${codeOf(error)}): set dataDir to a directory that this user may write`,
    { cause: error },
  );

/** Throws a `UsageError` where the directory cannot be written, or made. Writes nothing. */
export const checkDataDir = async (dataDir: string): Promise<void> => {
  for (let directory = resolve(dataDir); ; directory = dirname(directory)) {
    const error: unknown = await access(directory, constants.W_OK).catch((found: unknown) => found);
    if (error === undefined) return;
    if (codeOf(error) !== 'ENOENT') throw unwritable(resolve(dataDir), error);
  }
};

/**
 * Takes the directory, making it where it is missing. Waits only while it does not know whether a holder on another host
 * still lives. Throws a `UsageError` that names the holder, or says that the directory cannot be written.
 */
export const lockDataDir = async (settings: LockSettings) => {
  const dataDir = resolve(settings.dataDir);
  const file = fileIn(dataDir);
  const id = randomUUID();
  ownLeases.add(id);
  const { kernel, endRenewing } = await takeBoth(settings, dataDir, file, id).catch((error: unknown) => {
    ownLeases.delete(id);
    if (error instanceof UsageError) throw error;
    throw unwritable(dataDir, error);
  });
  const isHeld = async () => (await readLease(file).catch(() => undefined))?.id === id;
  return {
    /** Asks the file itself, so that a takeover is known before the next renewal finds it. */
    isHeld,
    /** May be called again. */
    release: async (): Promise<void> => {
      if (!ownLeases.delete(id)) return;
      await endRenewing();
      if (await isHeld()) await unlink(file).catch(() => {});
      await kernel?.close();
    },
  };
};

export type DataDirLock = Awaited<ReturnType<typeof lockDataDir>>;

/** Which daemon has the directory, as far as its lease shows; undefined where none lives. */
export const holderOf = async (dataDir: string): Promise<Pick<Lease, 'host' | 'pid' | 'answeredAt'> | undefined> => {
  const lease = await readLease(fileIn(resolve(dataDir))).catch(() => undefined);
  if (lease === undefined) return undefined;
  const lives = isNear(lease) ? await isAlive(lease.pid) : !isOlder(lease, STALE_AFTER_MS);
  return lives ? lease : undefined;
};
