/**
 * How long alerts took from the service to their receivers, over all daemons, for a day: a histogram for every ten
 * minutes, one hash an hour. It is written with the statistics of destinations, see `destination-stats.ts`.
 */
import type { ChainableCommander, Cluster, Redis } from 'ioredis';
import { execute } from '../redis/pipeline.ts';
import { iso } from '../time.ts';

const STEP_MS = 600_000;
const HOUR_MS = 3_600_000;
const KEEP_SECONDS = 26 * 3600;

/** Two bins double the time: from a quarter of a second to two hours and more. */
const FIRST_MS = 250;
const MOST_BIN = 30;

const binOf = (ms: number): number =>
  Math.min(MOST_BIN, Math.max(0, Math.ceil(2 * Math.log2(Math.max(1, ms) / FIRST_MS))));

/** What is in a bin took at most this long. */
const endOf = (bin: number): number => FIRST_MS * 2 ** (bin / 2);

/** Deliveries of ten minutes. */
export interface LatencyStep {
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

export const createLatencies = (redis: Redis | Cluster, prefix: string) => {
  const keyOf = (at: number): string => `${prefix}:latency:${iso(at).slice(0, 13)}`;
  let gathered = new Map<string, Map<string, number>>();
  /** The hour whose hash this process told to expire last. */
  let expiring = '';

  return {
    /** Counts deliveries that ended at `at` (epoch milliseconds). Nothing is written yet. */
    gather: (at: number, latenciesMs: readonly number[]): void => {
      if (latenciesMs.length === 0) return;
      const key = keyOf(at);
      const counts = gathered.get(key) ?? new Map<string, number>();
      gathered.set(key, counts);
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
      const batch = redis.pipeline();
      for (const hour of hours) batch.hgetall(keyOf(hour));
      const found = (await execute(batch)) as Record<string, string>[];
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

export type Latencies = ReturnType<typeof createLatencies>;
