/**
 * A private redis-server under `DATADIR/redis`, for installations without a Redis of their own: started with the daemon,
 * started again when it dies, ended with it. Its data outlives both.
 */
import { realpath } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, UnavailableError } from '../errors.ts';
import { type DataDirLock, lockDataDir } from './data-dir-lock.ts';
import {
  chooseAddress,
  connectionTo,
  type EmbeddedAddress,
  type EmbeddedFiles,
  type EmbeddedLog,
  earlierAddress,
  embeddedFiles,
  endServer,
  notedPid,
  prepareFiles,
  type ServerProcess,
  spawnServer,
  stateAt,
  waitUntilReady,
  writeSettings,
} from './embedded-server.ts';
import { isAlive, workingDirectoryOf } from './pid.ts';

/** Why it ended: `stopped` by us; `lost` when it cannot be kept running, or another daemon has the directory. */
export type EmbeddedEnd = { reason: 'stopped' } | { reason: 'lost'; message: string };

interface SupervisorSettings {
  files: EmbeddedFiles;
  address: EmbeddedAddress;
  binary: string;
  log: EmbeddedLog;
  /** Asked before a server is started again: two must never write one file. */
  mayRun(): Promise<boolean>;
  /** Gives up the first start. */
  signal: AbortSignal;
}

const STOP_TIMEOUT_MS = 10_000;
/** After this many failed starts in a row the daemon's own supervisor has to act. */
const MOST_FAILURES = 8;

const backoffMs = (failures: number): number => Math.min(100 * 2 ** failures, 5000);

/** Sends SIGTERM when the program exits without `stop`: the server would stay behind. */
const endOnExit = (pid: () => number | undefined): (() => void) => {
  const onExit = (): void => {
    const last = pid();
    try {
      if (last !== undefined) process.kill(last, 'SIGTERM');
    } catch {
      // It had ended before.
    }
  };
  process.once('exit', onExit);
  return () => process.removeListener('exit', onExit);
};

const createStarter = ({ files, address, binary, log, mayRun }: SupervisorSettings) => {
  let latest: ServerProcess | undefined;

  const start = async (signal: AbortSignal): Promise<ServerProcess> => {
    const server = await spawnServer(files, binary);
    latest = server;
    try {
      await waitUntilReady(server, address, log, signal);
      return server;
    } catch (error) {
      await endServer(server.pid, STOP_TIMEOUT_MS);
      throw error;
    }
  };

  const startAgain = async (signal: AbortSignal): Promise<ServerProcess> => {
    for (let failures = 0; ; failures += 1) {
      await delay(backoffMs(failures), undefined, { ref: false, signal });
      if (!(await mayRun())) throw new Error('another daemon has the data directory');
      try {
        return await start(signal);
      } catch (error) {
        if (signal.aborted || failures >= MOST_FAILURES) throw error;
        log.error({ err: error, failures: failures + 1 }, 'embedded Redis does not start');
      }
    }
  };

  return { start, startAgain, latest: () => latest };
};

/** Resolves when the first server is ready; rejects when it does not start. */
const superviseServer = async (settings: SupervisorSettings) => {
  const { log } = settings;
  const stopping = new AbortController();
  const { start, startAgain, latest } = createStarter(settings);

  const watch = async (first: ServerProcess): Promise<EmbeddedEnd> => {
    let server = first;
    for (;;) {
      const how = await server.exited;
      if (stopping.signal.aborted) return { reason: 'stopped' };
      log.error(
        { how, serverPid: server.pid, lastWords: await server.lastWords() },
        'embedded Redis died; starting it again',
      );
      server = await startAgain(stopping.signal);
      log.info({ serverPid: server.pid }, 'embedded Redis is back');
    }
  };

  const forget = endOnExit(() => latest()?.pid);
  const first = await start(settings.signal).catch((error: unknown) => {
    forget();
    throw error;
  });
  const exited = watch(first).catch(
    (error: unknown): EmbeddedEnd =>
      stopping.signal.aborted
        ? { reason: 'stopped' }
        : { reason: 'lost', message: `embedded Redis cannot be kept running: ${messageOf(error)}` },
  );
  return {
    pid: (): number => latest()?.pid ?? first.pid,
    exited,
    stop: async (): Promise<void> => {
      stopping.abort();
      const server = latest() ?? first;
      server.ref();
      await endServer(server.pid, STOP_TIMEOUT_MS);
      await exited;
      forget();
    },
  };
};

/** Looked up in PATH. */
export const EMBEDDED_BINARY = 'redis-server';

export interface EmbeddedSettings {
  dataDir: string;
  log: EmbeddedLog;
  /** Default `EMBEDDED_BINARY`. */
  binary?: string;
  /** Gives up a start that takes long, as reading much data back in does. */
  signal?: AbortSignal;
}

/**
 * Ends the server that a killed daemon left behind, or two servers would write the same files. A server that does not
 * answer is known by its pid file, if that process works in our directory.
 */
const endOrphan = async (files: EmbeddedFiles, log: EmbeddedLog): Promise<void> => {
  const address = await earlierAddress(files);
  const answering = address === undefined ? undefined : (await stateAt(address))?.pid;
  const noted = answering === undefined ? await notedPid(files) : undefined;
  const worksHere = noted !== undefined && (await workingDirectoryOf(noted)) === (await realpath(files.directory));
  const pid = answering ?? (worksHere ? noted : undefined);
  if (pid === undefined || !(await isAlive(pid))) return;
  log.warn({ serverPid: pid }, 'ending an embedded Redis that an earlier daemon left behind');
  if (await endServer(pid, STOP_TIMEOUT_MS)) return;
  throw new UnavailableError(`the redis-server of an earlier daemon (process ${pid}) cannot be ended`);
};

const startIn = async (settings: EmbeddedSettings, lock: DataDirLock, lost: Promise<EmbeddedEnd>) => {
  const { dataDir, log, binary = EMBEDDED_BINARY, signal = new AbortController().signal } = settings;
  const files = embeddedFiles(dataDir);
  await prepareFiles(files);
  await endOrphan(files, log);
  const address = await chooseAddress(files);
  await writeSettings(files, address);
  const server = await superviseServer({ files, address, binary, log, signal, mayRun: lock.isHeld });
  let stopped: Promise<void> | undefined;
  return {
    /** For `connectRedis`; stays the same when the server is started again. */
    connection: connectionTo(address),
    /** Of the server that was started last. */
    pid: server.pid,
    /** Never rejects. After `lost` the daemon should stop; `stop` is still needed. */
    exited: Promise.race([server.exited, lost]),
    /** Ends the server with everything on disk, and releases the directory. May be called again. */
    stop: (): Promise<void> => {
      stopped ??= server.stop().then(lock.release);
      return stopped;
    },
  };
};

/**
 * Takes the data directory, ends a server left behind in it, and starts its own; resolves when that has loaded its
 * data. Throws a `UsageError` when the directory is taken or cannot be written, or when the program is not
 * installed; an `UnavailableError` when the server does not start.
 */
export const startEmbeddedRedis = async (settings: EmbeddedSettings) => {
  const lost = Promise.withResolvers<EmbeddedEnd>();
  const lock = await lockDataDir({
    dataDir: settings.dataDir,
    onLost: (why) => lost.resolve({ reason: 'lost', message: `the data directory was lost: ${why}` }),
  });
  return startIn(settings, lock, lost.promise).catch(async (error: unknown) => {
    await lock.release();
    throw error;
  });
};

export type EmbeddedRedis = Awaited<ReturnType<typeof startEmbeddedRedis>>;
