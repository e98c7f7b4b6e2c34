/** Keeps the embedded redis-server running: starts it again when it dies, and logs that. */
import { setTimeout as delay } from 'node:timers/promises';
import { messageOf } from '../errors.ts';
import type { EmbeddedAddress, EmbeddedFiles } from './embedded-files.ts';
import { type EmbeddedLog, endServer, type ServerProcess, spawnServer, waitUntilReady } from './embedded-server.ts';

/** Why it ended: `stopped` by us; `lost` when it cannot be kept running, or another daemon has the directory. */
export type EmbeddedEnd = { reason: 'stopped' } | { reason: 'lost'; message: string };

export interface SupervisorSettings {
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
export const superviseServer = async (settings: SupervisorSettings) => {
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
