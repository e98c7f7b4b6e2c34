/** Statistics of each destination, over all daemons: for `status` and the status page. */
import type { Cluster, Redis } from 'ioredis';
import type { ChannelKind, Destination } from '../alert.ts';
import { execute } from '../redis/pipeline.ts';

export interface DestinationStatistics {
  id: string;
  kind: ChannelKind;
  label: string;
  /** Alerts. */
  delivered: number;
  dead: number;
  /** ISO 8601. */
  lastSuccess?: string;
  lastFailure?: string;
  /** A sentence without secrets; cleared by the next success. */
  lastError?: string;
}

export interface DestinationStats {
  /** `delivered` counts alerts; `at` is ISO 8601. */
  succeeded(destination: Destination, delivered: number, at: string): Promise<void>;
  /** `dead` counts alerts that failed for good by this; `error` is a sentence without secrets. */
  failed(destination: Destination, dead: number, at: string, error: string): Promise<void>;
  /** By kind and label. */
  list(): Promise<DestinationStatistics[]>;
}

export const createDestinationStats = (redis: Redis | Cluster, prefix: string): DestinationStats => {
  const index = `${prefix}:destinations`;
  const keyOf = (id: string): string => `${prefix}:destination:${id}`;

  const write = async (
    { id, kind, label }: Destination,
    count: 'delivered' | 'dead',
    by: number,
    fields: Record<string, string>,
  ) => {
    const batch = redis.pipeline().sadd(index, id);
    await execute(batch.hset(keyOf(id), { id, kind, label, ...fields }).hincrby(keyOf(id), count, by));
  };

  const read = async (id: string): Promise<DestinationStatistics> => {
    const { delivered, dead, lastError, lastSuccess, lastFailure, kind, label } = await redis.hgetall(keyOf(id));
    return {
      id,
      kind: kind as ChannelKind,
      label: label ?? id,
      delivered: Number(delivered ?? 0),
      dead: Number(dead ?? 0),
      ...(lastSuccess ? { lastSuccess } : {}),
      ...(lastFailure ? { lastFailure } : {}),
      ...(lastError ? { lastError } : {}),
    };
  };

  return {
    succeeded: (destination, delivered, at) =>
      write(destination, 'delivered', delivered, { lastSuccess: at, lastError: '' }),
    failed: (destination, dead, at, error) => write(destination, 'dead', dead, { lastFailure: at, lastError: error }),
    list: async () => {
      const all = await Promise.all((await redis.smembers(index)).map(read));
      return all.sort((a, b) => a.kind.localeCompare(b.kind) || a.label.localeCompare(b.label));
    },
  };
};
