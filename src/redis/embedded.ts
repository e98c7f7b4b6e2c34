/**
 * A private redis-server under `DATADIR/redis`, for installations without a Redis of their own: started with the daemon,
 * started again when it dies, ended with it. Its data outlives both.
 */
import { realpath } from 'node:fs/promises';
import { UnavailableError } from '../errors.ts';
import { type DataDirLock, lockDataDir } from './data-dir-lock.ts';
import {
  chooseAddress,
  connectionTo,
  type EmbeddedFiles,
  earlierAddress,
  embeddedFiles,
  notedPid,
  prepareFiles,
  writeSettings,
} from './embedded-files.ts';
import { type EmbeddedLog, endServer, stateAt } from './embedded-server.ts';
import { type EmbeddedEnd, superviseServer } from './embedded-supervisor.ts';
import { isAlive, workingDirectoryOf } from './pid.ts';
import type { SingleRedis } from './settings.ts';

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

export interface EmbeddedRedis {
  /** For `connectRedis`; stays the same when the server is started again. */
  connection: SingleRedis;
  /** Of the server that was started last. */
  pid(): number;
  /** Ends the server with everything on disk, and releases the directory. May be called again. */
  stop(): Promise<void>;
  /** Never rejects. After `lost` the daemon should stop; `stop` is still needed. */
  exited: Promise<EmbeddedEnd>;
}

const STOP_TIMEOUT_MS = 10_000;

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
  const stop = async (): Promise<void> => {
    await server.stop();
    await lock.release();
  };
  let stopped: Promise<void> | undefined;
  return {
    connection: connectionTo(address),
    pid: server.pid,
    exited: Promise.race([server.exited, lost]),
    stop: (): Promise<void> => {
      stopped ??= stop();
      return stopped;
    },
  };
};

/**
 * Takes the data directory, ends a server left behind in it, and starts its own; resolves when that has loaded its
 * data. Throws a `UsageError` when the directory is taken or cannot be written, or when the program is not
 * installed; an `UnavailableError` when the server does not start.
 */
export const startEmbeddedRedis = async (settings: EmbeddedSettings): Promise<EmbeddedRedis> => {
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
