/** Connects what notices another Redis server with the audits that look for what it may lack. */
import type { Logger } from 'pino';
import type { Config } from '../config/schema.ts';
import { createServerChange } from '../features/audit/server-change.ts';
import { urgentAudits } from './schedule.ts';
import type { Store } from './store.ts';

export interface ServerWatchDependencies {
  config: Config;
  store: Pick<Store, 'redis' | 'prefix' | 'schedule'>;
  log: Logger;
  stopping: AbortSignal;
}

/**
 * Checks after every reconnect until `stopping`. The returned function checks at once: in a Cluster a failover may break
 * no connection of ours.
 */
export const watchServer = ({ config, store, log, stopping }: ServerWatchDependencies): (() => Promise<void>) => {
  const { redis, prefix, schedule } = store;
  const { check } = createServerChange({
    redis,
    prefix,
    onChanged: async (server) => {
      for (const turn of urgentAudits(config, server)) await schedule.once(turn);
      // Not a warning: an embedded Redis starts anew with each daemon. What is found to be lost is an error of its own.
      log.info({ server }, 'Redis was restarted or failed over; an audit looks for what it may have lost');
    },
  });
  const look = (): Promise<void> =>
    check().catch((error: unknown) => {
      if (!stopping.aborted) log.warn({ err: error }, 'whether Redis was restarted is not known; asking again');
    });
  redis.on('ready', look);
  stopping.addEventListener('abort', () => redis.off('ready', look), { once: true });
  return look;
};
