/** Statistics of each destination, and how long alerts took, over all daemons: for `status` and the status page. */
import { setTimeout } from 'node:timers/promises';
import type { ChainableCommander, Cluster, Redis } from 'ioredis';
import type { ChannelKind, Destination } from '../alert.ts';
import { createBoundedMap, getOrCreate } from '../bounded-map.ts';
import { mapInChunks } from '../chunks.ts';
import { askEach, execute } from '../redis/pipeline.ts';
import { HOUR_MS, iso } from '../time.ts';

const STEP_MS = 600_000;
const KEEP_SECONDS = 26 * 3600;

/** Two bins double the time: from a quarter of a second to two hours and more. */
const FIRST_MS = 250;
const MOST_BIN = 30;

const binOf = (ms: number): number =>
  Math.min(MOST_BIN, Math.max(0, Math.ceil(2 * Math.log2(Math.max(1, ms) / FIRST_MS))));

/** What is in a bin took at most this long. */
const endOf = (bin: number): number => FIRST_MS * 2 ** (bin / 2);

/** Deliveries of ten minutes. */
interface LatencyStep {
  /** Epoch milliseconds; the step begins there. */
  at: number;
  delivered: number;
  /** Within this time half of them were delivered, and 95 of 100; in milliseconds, rounded up to a bin. */
  medianMs: number;
  mostMs: number;
}

type Bins = Map<number, number>;

const quantile = (bins: Bins, total: number, share: number): number => {
  let seen = 0;
  for (const [bin, count] of [...bins].sort(([a], [b]) => a - b)) {
    seen += count;
    if (seen >= share * total) return endOf(bin);
  }
  return 0;
};

const stepOf = (at: number, bins: Bins): LatencyStep => {
  const delivered = [...bins.values()].reduce((sum, count) => sum + count, 0);
  return { at, delivered, medianMs: quantile(bins, delivered, 0.5), mostMs: quantile(bins, delivered, 0.95) };
};

/**
 * How long alerts took from the service to their receivers, for a day: a histogram for every ten minutes, one hash an hour.
 * It is written with the statistics of destinations.
 */
export const createLatencies = (redis: Redis | Cluster, prefix: string) => {
  const keyOf = (at: number): string => `${prefix}:latency:${iso(at).slice(0, 13)}`;
  let gathered = new Map<string, Map<string, number>>();
  /** The hour whose hash this process has let expire last. */
  let expiring = '';

  return {
    /** Counts deliveries that ended at `at` (epoch milliseconds). Nothing is written yet. */
    gather: (at: number, latenciesMs: readonly number[]): void => {
      if (latenciesMs.length === 0) return;
      const counts = getOrCreate(gathered, keyOf(at), () => new Map());
      const step = Math.floor((at % HOUR_MS) / STEP_MS);
      for (const ms of latenciesMs) {
        const field = `${step}:${binOf(ms)}`;
        counts.set(field, (counts.get(field) ?? 0) + 1);
      }
    },
    /** Adds to a batch what was gathered. */
    write: (batch: ChainableCommander): void => {
      const all = gathered;
      gathered = new Map();
      for (const [key, counts] of all) {
        for (const [field, count] of counts) batch.hincrby(key, field, count);
        if (key !== expiring) batch.expire(key, KEEP_SECONDS);
        expiring = key;
      }
    },
    /** Steps with a delivery that begin from `from` up to `to`, in epoch milliseconds, in order. */
    between: async (from: number, to: number): Promise<LatencyStep[]> => {
      const first = Math.floor(from / HOUR_MS) * HOUR_MS;
      const hours = Array.from({ length: Math.floor((to - first) / HOUR_MS) + 1 }, (_, hour) => first + hour * HOUR_MS);
      const found = (await askEach(redis, hours, (batch, hour) => batch.hgetall(keyOf(hour)))) as Record<
        string,
        string
      >[];
      const steps = new Map<number, Bins>();
      for (const [index, fields] of found.entries()) {
        for (const [field, count] of Object.entries(fields)) {
          const [step = 0, bin = 0] = field.split(':').map(Number);
          const at = (hours[index] ?? 0) + step * STEP_MS;
          const bins = steps.get(at) ?? new Map<number, number>();
          steps.set(at, bins.set(bin, Number(count)));
        }
      }
      return [...steps]
        .filter(([at]) => at >= from && at <= to)
        .sort(([a], [b]) => a - b)
        .map(([at, bins]) => stepOf(at, bins));
    },
  };
};

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

/** KEYS: the index, the statistics; ARGV: the id, a date. Dates are ISO 8601, so that text order is their order. */
const FORGET = `
for _, last in ipairs(redis.call('HMGET', KEYS[2], 'lastSuccess', 'lastFailure')) do
  if last and last >= ARGV[2] then return 0 end
end
redis.call('DEL', KEYS[2])
redis.call('SREM', KEYS[1], ARGV[1])
return 1`;

/** Thousands at once would keep others waiting. */
const READ_AT_ONCE = 100;
/** By code units: a collation of thousands takes long. */
const inOrder = (a: string, b: string): number => Number(a > b) - Number(a < b);

/** Destinations that this process remembers to be in the index. */
const MOST_INDEXED = 20_000;

/** Of messages that were delivered to one destination within this, one is written down. */
const GATHER_MS = 100;

interface Success {
  destination: Destination;
  delivered: number;
  at: string;
}

export const createDestinationStats = (redis: Redis | Cluster, prefix: string) => {
  const index = `${prefix}:destinations`;
  const keyOf = (id: string): string => `${prefix}:destination:${id}`;

  /** Adds to a batch what is written with every change. */
  const note = (batch: ChainableCommander, { id, kind, label }: Destination, fields: Record<string, string>) =>
    batch.sadd(index, id).hset(keyOf(id), { id, kind, label, ...fields });

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

  /** Successes that are not written yet, by destination. */
  let unwritten = new Map<Destination['id'], Success>();
  let writing: Promise<void> | undefined;

  const add = (batch: ChainableCommander, { destination: { id, kind, label }, delivered, at }: Success): void => {
    batch.hincrby(keyOf(id), 'delivered', delivered);
    batch.hset(keyOf(id), { id, kind, label, lastSuccess: at, lastError: '' });
  };

  const latencies = createLatencies(redis, prefix);
  const indexed = createBoundedMap<string, true>(MOST_INDEXED);

  /** A count that begins again is a destination that is new, or was forgotten: by `forget`, or by a Redis that lost it. */
  const indexNew = async (all: readonly Success[], answers: readonly unknown[]): Promise<void> => {
    // The first of two answers each is the new count.
    const isFirst = ({ delivered }: Success, index: number): boolean => answers[2 * index] === delivered;
    const fresh = all.filter((one, index) => !indexed.has(one.destination.id) || isFirst(one, index));
    if (fresh.length === 0) return;
    const ids = fresh.map(({ destination }) => destination.id);
    await redis.sadd(index, ...ids);
    for (const id of ids) indexed.set(id, true);
  };

  const write = async (): Promise<void> => {
    await setTimeout(GATHER_MS);
    writing = undefined;
    const all = [...unwritten.values()];
    unwritten = new Map();
    const batch = redis.pipeline();
    for (const success of all) add(batch, success);
    latencies.write(batch);
    await indexNew(all, await execute(batch));
  };

  return {
    /**
     * `delivered` counts alerts; `at` is ISO 8601; `latenciesMs`: how long alerts took to get there. Resolves when it is
     * written, which is within a moment.
     */
    succeeded: (
      destination: Destination,
      delivered: number,
      at: string,
      latenciesMs: readonly number[] = [],
    ): Promise<void> => {
      latencies.gather(Date.parse(at), latenciesMs);
      const known = unwritten.get(destination.id);
      unwritten.set(destination.id, { destination, delivered: delivered + (known?.delivered ?? 0), at });
      writing ??= write();
      return writing;
    },
    /** `at` is ISO 8601; `error` is a sentence without secrets. */
    failed: async (destination: Destination, at: string, error: string): Promise<void> => {
      const batch = redis.pipeline();
      const before = unwritten.get(destination.id);
      unwritten.delete(destination.id);
      if (before) add(batch, before);
      await execute(note(batch, destination, { lastFailure: at, lastError: error }));
    },
    /** Resolves when this process has nothing left to write. */
    written: async (): Promise<void> => {
      await writing;
    },
    /** Of all destinations together. */
    latencies: latencies.between,
    /** By kind and label. */
    list: async (): Promise<DestinationStatistics[]> => {
      await writing;
      const all = await mapInChunks(await redis.smembers(index), READ_AT_ONCE, read);
      return all.sort((a, b) => inOrder(a.kind, b.kind) || inOrder(a.label, b.label));
    },
    /** False where something was sent there since `before` (ISO 8601), or tried: then all stays. */
    forget: async (id: Destination['id'], before: string): Promise<boolean> =>
      (await redis.eval(FORGET, 2, index, keyOf(id), id, before)) === 1,
  };
};

export type DestinationStats = ReturnType<typeof createDestinationStats>;
