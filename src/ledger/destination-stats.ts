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
  /** ISO 8601. */
  lastSuccess?: string;
  lastFailure?: string;
  /** A sentence without secrets; cleared by the next success. */
  lastError?: string;
}

export interface DestinationStats {
  /** `delivered` counts alerts; `at` is ISO 8601. */
  succeeded(destination: Destination, delivered: number, at: string): Promise<void>;
  /** `at` is ISO 8601; `error` is a sentence without secrets. */
  failed(destination: Destination, at: string, error: string): Promise<void>;
  /** By kind and label. */
  list(): Promise<DestinationStatistics[]>;
  /** False where something was sent there since `before` (ISO 8601), or tried: then all stays. */
  forget(id: Destination['id'], before: string): Promise<boolean>;
}

/** KEYS: the index, the statistics; ARGV: the id, a date. Dates are ISO 8601, so that text order is their order. */
const FORGET = `
for _, last in ipairs(redis.call('HMGET', KEYS[2], 'lastSuccess', 'lastFailure')) do
  if last and last >= ARGV[2] then return 0 end
end
redis.call('DEL', KEYS[2])
redis.call('SREM', KEYS[1], ARGV[1])
return 1`;

export const createDestinationStats = (redis: Redis | Cluster, prefix: string): DestinationStats => {
  const index = `${prefix}:destinations`;
  const keyOf = (id: string): string => `${prefix}:destination:${id}`;

  /** Adds to a batch what is written with every change. */
  const note = ({ id, kind, label }: Destination, fields: Record<string, string>) =>
    redis
      .pipeline()
      .sadd(index, id)
      .hset(keyOf(id), { id, kind, label, ...fields });

  const read = async (id: string): Promise<DestinationStatistics> => {
    const { delivered, lastError, lastSuccess, lastFailure, kind, label } = await redis.hgetall(keyOf(id));
    return {
      id,
      kind: kind as ChannelKind,
      label: label ?? id,
      delivered: Number(delivered ?? 0),
      ...(lastSuccess ? { lastSuccess } : {}),
      ...(lastFailure ? { lastFailure } : {}),
      ...(lastError ? { lastError } : {}),
    };
  };

  return {
    succeeded: async (destination, delivered, at) => {
      const batch = note(destination, { lastSuccess: at, lastError: '' });
      await execute(batch.hincrby(keyOf(destination.id), 'delivered', delivered));
    },
    failed: async (destination, at, error) => {
      await execute(note(destination, { lastFailure: at, lastError: error }));
    },
    list: async () => {
      const all = await Promise.all((await redis.smembers(index)).map(read));
      return all.sort((a, b) => a.kind.localeCompare(b.kind) || a.label.localeCompare(b.label));
    },
    forget: async (id, before) => (await redis.eval(FORGET, 2, index, keyOf(id), id, before)) === 1,
  };
};
