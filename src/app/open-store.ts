/** Opens a daemon's Redis, everything that is kept in it, and the state file beside it. */
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/schema.ts';
import { UsageError } from '../errors.ts';
import { createOutages } from '../ops/outages.ts';
import { createMirror } from '../poll/mirror.ts';
import { makePrivateDirectory } from '../private-file.ts';
import { checkRedis } from '../redis/check.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Limits } from './limits.ts';
import { type OpenRedis, openOwnRedis } from './redis.ts';
import { createStore, type StoreSettings } from './store.ts';

export interface OpenStoreDependencies {
  config: Config;
  log: Logger;
  telemetry?: StoreSettings['telemetry'];
  lifecycle: Pick<Lifecycle, 'onStop'>;
  stopping: AbortSignal;
  /** Called with the reason when Redis is gone for good. */
  fail(reason: string): void;
  limits: Pick<Limits, 'dead' | 'held'>;
  now(): number;
}

/** If the directory is unusable, the embedded Redis reports it. With another Redis the daemon runs without a state file. */
const closeDataDir = async ({ config: { dataDir }, log }: OpenStoreDependencies): Promise<void> => {
  const isClosed = await makePrivateDirectory(dataDir).catch((error: unknown) => {
    if (error instanceof UsageError) throw error;
    log.warn({ err: error, dataDir }, 'the data directory cannot be used');
    return true;
  });
  if (!isClosed) log.warn({ dataDir }, 'other users can write to the data directory, and it cannot be closed to them');
};

/**
 * Logs what is wrong with this Redis. Throws where only the operator can mend it: waiting would look like a daemon that
 * works. False where it did not answer.
 */
const review = async ({ redis, address, prefix }: OpenRedis, log: Logger): Promise<boolean> => {
  const findings = await checkRedis(redis, { address, prefix });
  for (const { name, message } of findings) {
    if (name === 'refused' || name === 'forbidden') throw new UsageError(message);
    log.warn({ finding: name }, message);
  }
  return !findings.some(({ name }) => name === 'unreachable');
};

export const openStore = async (dependencies: OpenStoreDependencies) => {
  const { config, log, lifecycle, stopping, telemetry, fail, limits, now } = dependencies;
  await closeDataDir(dependencies);
  const opened = await openOwnRedis(config, log, stopping);
  const { redis, prefix, lost, close } = opened;
  lifecycle.onStop('redis', close);
  void lost.then((end) => fail(end.reason === 'lost' ? end.message : 'the embedded Redis has ended'));
  const hasAnswered = await review(opened, log);
  const outages = createOutages(log, now);
  const onError = (queue: string, error: Error): void => outages.failed('queue', queue, error);
  const store = createStore({ redis, prefix, onError, ...(telemetry && { telemetry }), limits, now });
  lifecycle.onStop('queues', store.close);
  const mirror = createMirror(join(config.dataDir, 'state.json'));
  const unusable = await mirror.load();
  if (unusable !== undefined) log.error({ reason: unusable }, 'the state file cannot be used; going on without it');
  return {
    store,
    mirror,
    /** Waits for a Redis that was away. Throws where it does not let us work. */
    demandRedis: async (): Promise<void> => {
      if (hasAnswered) return;
      await redis.ping().catch(() => {});
      await review(opened, log);
    },
  };
};
