/**
 * A private redis-server under `DATADIR/redis`, for installations without a Redis of their own: started with the daemon,
 * started again when it dies, ended with it. Its data outlives both.
 */
import { type FileHandle, realpath } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf, UnavailableError } from '../errors.ts';
import { lockDirectory } from '../private-file.ts';
import { type DataDirLock, lockDataDir } from './data-dir-lock.ts';
import {
  answers,
  chooseAddress,
  connectionTo,
  type EmbeddedAddress,
  type EmbeddedFiles,
  type EmbeddedLog,
  earlierAddress,
  embeddedFiles,
  endServer,
  killServer,
  notedPid,
  prepareFiles,
  type ServerProcess,
  shutDown,
  spawnServer,
  stateAt,
  waitUntilReady,
  writeSettings,
} from './embedded-server.ts';
import { isAlive, pidNamespace, workingDirectoryOf } from './pid.ts';

/** Why it ended: `stopped` by us; `lost` when it cannot be kept running, or another daemon has the directory. */
export type EmbeddedEnd = { reason: 'stopped' } | { reason: 'lost'; message: string };

interface SupervisorSettings extends Required<Omit<EmbeddedSettings, 'dataDir'>> {
  /** Called with each answer of the server. */
  onAnswer(): void;
  files: EmbeddedFiles;
  address: EmbeddedAddress;
  /** Of the files, for the server to inherit. */
  filesLock: FileHandle | undefined;
  /** Asked before a server is started again: two must never write one file. */
  mayRun(): Promise<boolean>;
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

const createStarter = ({ files, filesLock, address, binary, log, mayRun }: SupervisorSettings) => {
  let latest: ServerProcess | undefined;

  const start = async (signal: AbortSignal): Promise<ServerProcess> => {
    const server = await spawnServer(files, binary, filesLock);
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

/**
 * A server may live and answer nobody: its socket is gone, or it is suspended. After so many rounds without an answer it
 * is ended, as it is started again then. Resolves when it has ended; rejects where that did not help too often.
 */
const createSilenceWatch = ({ address, log, silence, onAnswer, onSilence }: SupervisorSettings) => {
  let endedInARow = 0;
  return async (server: ServerProcess): Promise<void> => {
    const ended = new AbortController();
    void server.exited.then(() => ended.abort());
    for (let silent = 0; !ended.signal.aborted; ) {
      // Rounds and not a time: a machine that slept has asked nothing meanwhile.
      const round = delay(silence.askEveryMs, undefined, { ref: false, signal: ended.signal }).catch(() => {});
      const [hasAnswered] = await Promise.all([answers(address), round]);
      silent = hasAnswered ? 0 : silent + 1;
      if (hasAnswered) {
        endedInARow = 0;
        onAnswer();
      }
      if (silent < silence.rounds || ended.signal.aborted) continue;
      silent = 0;
      onSilence(true);
      endedInARow += 1;
      if (endedInARow > silence.most) throw new Error('it lives and does not answer, also after it was started again');
      log.error({ serverPid: server.pid }, 'embedded Redis lives and does not answer; ending it and starting it again');
      await endServer(server.pid, STOP_TIMEOUT_MS);
    }
  };
};

/** Resolves when the first server is ready; rejects when it does not start. */
const superviseServer = async (settings: SupervisorSettings) => {
  const { log, mayRun, onSilence } = settings;
  const stopping = new AbortController();
  const { start, startAgain, latest } = createStarter(settings);
  const watchSilence = createSilenceWatch(settings);

  const watch = async (first: ServerProcess): Promise<EmbeddedEnd> => {
    let server = first;
    for (;;) {
      await watchSilence(server);
      const how = await server.exited;
      if (stopping.signal.aborted) return { reason: 'stopped' };
      log.error(
        { how, serverPid: server.pid, lastWords: await server.lastWords() },
        'embedded Redis died; starting it again',
      );
      server = await startAgain(stopping.signal);
      log.info({ serverPid: server.pid }, 'embedded Redis is back');
      onSilence(false);
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
      await ((await mayRun()) ? endServer(server.pid, STOP_TIMEOUT_MS) : killServer(server.pid));
      await exited;
      forget();
    },
  };
};

/** Looked up in PATH, to which main.ts adds where `make setup` unpacks it. */
export const EMBEDDED_BINARY = 'redis-server';

export interface EmbeddedSettings {
  dataDir: string;
  log: EmbeddedLog;
  binary?: string;
  /** Gives up a start that takes long, as reading much data back in does. */
  signal?: AbortSignal;
  silence?: typeof SILENCE;
  /** The server lives and does not answer; then, that it does again. */
  onSilence?(isSilent: boolean): void;
}

/** It is asked so often, over a new connection; after so many rounds without an answer it is ended; in a row, so often at most. */
const SILENCE = { askEveryMs: 3000, rounds: 10, most: MOST_FAILURES };

/**
 * Ends the server that a killed daemon left behind, or two servers would write the same files. A server that does not
 * answer is known by its pid file, if that process works in our directory. One that answers from another container has a
 * process id that is somebody else's here.
 */
const endOrphan = async (files: EmbeddedFiles, log: EmbeddedLog): Promise<void> => {
  const address = await earlierAddress(files);
  const answering = address === undefined ? undefined : (await stateAt(address))?.pid;
  const pid = answering ?? (await notedPid(files));
  if (pid === undefined) return;
  const worksHere = (await workingDirectoryOf(pid)) === (await realpath(files.directory));
  const isKnown = worksHere || (answering !== undefined && pidNamespace() === '');
  if (isKnown ? !(await isAlive(pid)) : answering === undefined) return;
  log.warn({ serverPid: pid }, 'ending an embedded Redis that an earlier daemon left behind');
  if (!isKnown && address !== undefined) return shutDown(address);
  if (await endServer(pid, STOP_TIMEOUT_MS)) return;
  throw new UnavailableError(`the redis-server of an earlier daemon (process ${pid}) cannot be ended`);
};

/** Held by us and by the server, which may outlive us. */
const lockFiles = async ({ directory }: EmbeddedFiles): Promise<FileHandle | undefined> => {
  const lock = await lockDirectory(directory);
  if (lock !== 'taken') return lock;
  throw new UnavailableError(
    `the redis-server of an earlier daemon still has ${directory}, and cannot be ended from here`,
  );
};

const startIn = async (
  settings: EmbeddedSettings & Pick<SupervisorSettings, 'onAnswer'>,
  lock: DataDirLock,
  lost: Promise<EmbeddedEnd>,
) => {
  const defaults = {
    binary: EMBEDDED_BINARY,
    signal: new AbortController().signal,
    silence: SILENCE,
    onSilence: () => {},
  };
  const { dataDir, ...given } = { ...defaults, ...settings };
  const files = embeddedFiles(dataDir);
  await prepareFiles(files);
  await endOrphan(files, given.log);
  const filesLock = await lockFiles(files);
  const address = await chooseAddress(files);
  await writeSettings(files, address);
  const server = await superviseServer({ ...given, files, filesLock, address, mayRun: lock.isHeld }).catch(
    async (error: unknown) => {
      await filesLock?.close();
      throw error;
    },
  );
  const stop = async (): Promise<void> => {
    await server.stop();
    await filesLock?.close();
    await lock.release();
  };
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
export const startEmbeddedRedis = async (settings: EmbeddedSettings) => {
  const lost = Promise.withResolvers<EmbeddedEnd>();
  let answeredAt = Date.now();
  const onAnswer = (): void => {
    answeredAt = Date.now();
  };
  const lock = await lockDataDir({
    dataDir: settings.dataDir,
    onLost: (why) => lost.resolve({ reason: 'lost', message: `the data directory was lost: ${why}` }),
    answeredAt: () => answeredAt,
  });
  return startIn({ ...settings, onAnswer }, lock, lost.promise).catch(async (error: unknown) => {
    await lock.release();
    throw error;
  });
};

export type EmbeddedRedis = Awaited<ReturnType<typeof startEmbeddedRedis>>;
