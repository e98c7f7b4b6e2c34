/** Tells other processes how this daemon is doing. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { DaemonReport } from '../features/status/daemons.ts';
import type { Store } from './store.ts';

export interface ReportingDependencies {
  store: Pick<Store, 'redis' | 'daemonReports'>;
  selfReport(): DaemonReport;
  stopping: AbortSignal;
  log: Pick<Logger, 'warn'>;
}

/** Well below what makes others think that this daemon does not run. */
const REPORT_EVERY_MS = 5000;
/** While it is not ready, so that a start and a recovery show soon. */
const REPORT_TROUBLE_EVERY_MS = 1000;
/** A stopping daemon waits at most this long to remove its report. */
const FAREWELL_MS = 1000;

const pause = (ms: number, signal: AbortSignal): Promise<void> => sleep(ms, undefined, { signal }).catch(() => {});

/** Writes every few seconds how this daemon is doing, and removes that when the daemon stops. */
export const startReporting = ({ store, selfReport, stopping, log }: ReportingDependencies) => {
  const { redis, daemonReports } = store;
  let waiting = new AbortController();
  const failed = (error: unknown): void => {
    if (!stopping.aborted) log.warn({ err: error }, 'this daemon cannot tell others how it is doing; trying again');
  };
  const stopped = new Promise<void>((resolve) => {
    stopping.addEventListener(
      'abort',
      () => {
        waiting.abort();
        resolve();
      },
      { once: true },
    );
  });
  const report = async (): Promise<void> => {
    while (!stopping.aborted) {
      const own = selfReport();
      waiting = new AbortController();
      // Without Redis a write waits for it to come back: a stop must not.
      await Promise.race([daemonReports.write(own).catch(failed), stopped]);
      const everyMs = own.ready ? REPORT_EVERY_MS : REPORT_TROUBLE_EVERY_MS;
      await pause(everyMs, waiting.signal);
    }
    // Without Redis the report cannot be removed, and grows old instead. A connection may look ready and be dead.
    if (redis.status !== 'ready') return;
    await Promise.race([
      daemonReports.remove(selfReport().id).catch(failed),
      sleep(FAREWELL_MS, undefined, { ref: false }),
    ]);
  };
  return {
    /** Never rejects. */
    ended: report(),
    /** Something is to be known at once. */
    tellNow: (): void => waiting.abort(),
  };
};
