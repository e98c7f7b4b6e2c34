/** Old jobs of a kind's queue, found by reading the whole queue: for queues that nobody works on any more. */
import type { ChannelKind } from '../alert.ts';
import { chunksOf } from '../chunks.ts';
import type { RedisClient } from '../redis/connect.ts';
import { execute } from '../redis/pipeline.ts';
import { type ParcelJob, readParcelJob } from './job.ts';
import { createJobReader } from './scan.ts';

export interface LeftJob {
  id: string;
  job: ParcelJob;
}

export interface LeftJobs {
  /** Those queued before a moment, in epoch milliseconds; without those of a version that this daemon does not know. */
  before(kind: ChannelKind, moment: number): AsyncIterable<LeftJob>;
}

const READ_AT_ONCE = 100;

const readJob = (id: string, json: string | null): LeftJob[] => {
  const job = readParcelJob(json === null ? null : JSON.parse(json));
  return 'unknownVersion' in job ? [] : [{ id, job }];
};

export const createLeftJobs = (redis: RedisClient, prefix: string): LeftJobs => {
  const { jobIds, keyOf } = createJobReader(redis, prefix);
  return {
    before: async function* (kind, moment) {
      for (const ids of chunksOf(await jobIds(kind), READ_AT_ONCE)) {
        const batch = redis.pipeline();
        for (const id of ids) batch.hmget(keyOf(kind, id), 'timestamp', 'data');
        const found = (await execute(batch)) as [string | null, string | null][];
        for (const [index, id] of ids.entries()) {
          const [queuedAt = null, json = null] = found[index] ?? [];
          if (queuedAt !== null && Number(queuedAt) < moment) yield* readJob(id, json);
        }
      }
    },
  };
};
