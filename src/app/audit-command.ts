/** What `tocsin audit` works with: the daemons' Redis, connections of its own to the services, and no workers. */

import type { Config } from '../config/schema.ts';
import { collectSecrets } from '../config/secrets.ts';
import type { AuditReport } from '../features/audit/balance.ts';
import { createLogger } from '../ops/log.ts';
import { createMetrics } from '../ops/metrics.ts';
import { createCatalog } from '../poll/catalog.ts';
import { createNameFilter } from '../poll/include.ts';
import { createScrubber } from '../secret.ts';
import { openServices } from '../service/open.ts';
import { version } from '../version.ts';
import { openAuditor } from './audit.ts';
import { openDispatch } from './dispatch.ts';
import { attachRedis } from './redis.ts';
import { createStore } from './store.ts';

export interface AuditCommand {
  /** Every service; `since` in epoch milliseconds. Nothing is sent from here: a daemon delivers what is queued again. */
  audit(since: number | undefined, isHealing: boolean): Promise<AuditReport>;
  close(): Promise<void>;
}

/** Throws an `UnavailableError` where no Redis of a daemon answers. */
export const openAuditCommand = async (config: Config, signal: AbortSignal): Promise<AuditCommand> => {
  const { redis, prefix, close } = await attachRedis(config);
  const now = Date.now;
  const scrub = createScrubber(collectSecrets(config));
  const log = createLogger({ level: 'silent', scrub });
  const store = createStore({ redis, prefix, onError: () => {}, now });
  const catalog = createCatalog({
    redis,
    prefix,
    list: () => Promise.reject(new Error('an audit lists no protocols')),
    isIncluded: createNameFilter(config.protocols.include, config.protocols.exclude),
  });
  const services = openServices(config, now, { listed: catalog.names });
  const { routesOf, dispatch } = openDispatch({
    config,
    store,
    metrics: createMetrics({ version }),
    log,
    protocolOf: catalog.protocolOf,
    now,
  });
  const { run } = openAuditor({
    config,
    store,
    catalog,
    serviceOf: (name) => {
      const service = services.get(name);
      if (!service) throw new Error(`the config has no service '${name}'`);
      return service;
    },
    routesOf,
    dispatch,
    now,
  });

  return {
    audit: async (since, isHealing) => {
      const options = { ...(since === undefined ? {} : { since: () => since }), isHealing, isThorough: true };
      const reports = await Promise.all(config.services.map(({ name }) => run(name, options, signal)));
      return {
        protocols: reports.flatMap(({ protocols }) => protocols),
        unaudited: reports.flatMap(({ unaudited }) => unaudited),
      };
    },
    close: async () => {
      await Promise.all([...services.values()].map(({ client }) => client.close()));
      await store.close();
      await close();
    },
  };
};
