/**
 * A queue as bull-board sees it: it can be read, in bounds, and nothing else. Retries and drops go through Tocsin's own
 * actions, which keep the ledger true.
 */
import { setImmediate } from 'node:timers/promises';
import { BaseAdapter } from '@bull-board/api/dist/queueAdapters/base.js';
import type { QueueJob } from '@bull-board/api/dist/types.js';
import { readParcelJob } from '../../queue/job.ts';
import type { ReadableQueue } from '../../queue/queues.ts';
import { beginningOf, escapeInvisible } from '../../text.ts';

/** Bytes of a job's alerts: in a list of jobs, and of one job that somebody looks at. */
export const MOST_BYTES = { listed: 16 * 1024, alone: 128 * 1024 };
const MOST_REASON = 500;

const bytesOf = (value: object): number => Buffer.byteLength(JSON.stringify(value));

/** The first that have room. */
const within = <T extends object>(all: readonly T[], most: number): T[] => {
  let room = most;
  const end = all.findIndex((one) => {
    room -= bytesOf(one);
    return room < 0;
  });
  return all.slice(0, end < 0 ? all.length : end);
};

const visible = (value: object): unknown =>
  JSON.parse(JSON.stringify(value), (_key, part: unknown) => (typeof part === 'string' ? escapeInvisible(part) : part));

/** No address, as that may be a secret, and no more than it takes to look at. What a later field holds may be a secret, too. */
export const shownData = (data: unknown, most: number): unknown => {
  if (typeof data !== 'object' || data === null || Object.keys(data).length === 0) return {};
  const job = readParcelJob(data);
  if ('unknownVersion' in job) return { notShown: `this daemon does not know version ${job.unknownVersion}` };
  if ('flaw' in job) return { notShown: `somebody else than Tocsin wrote or changed it: see its ${job.flaw}` };
  const { v, fairnessKey, attempt, firstTriedAt, unknownSince, format, moves, misses, yields, batchNumber, slot } = job;
  const { id, kind, label } = job.destination;
  const alerts = within(job.alerts, most);
  const left = job.alerts.length - alerts.length;
  return visible({
    ...{ v, destination: { id, kind, label }, fairnessKey, attempt, firstTriedAt, unknownSince },
    ...{ format, moves, misses, yields, batch: batchNumber, slot, alerts },
    ...(left > 0 && { notShown: `${left} of ${job.alerts.length} alerts: see tocsin trace, or the job's own page` }),
  });
};

export const shownReason = (reason: string | undefined, scrub: (text: string) => string): string =>
  escapeInvisible(beginningOf(scrub(reason ?? ''), MOST_REASON));

type Job = NonNullable<Awaited<ReturnType<ReadableQueue['getJob']>>>;

const STATES = ['active', 'waiting', 'prioritized', 'delayed', 'failed'] as const;

const refuse = (): Promise<never> => Promise.reject(new Error('the queues are only read here'));

export type Scrub = (text: string) => string;

const readOnlyJob = (job: Job, most: number, scrub: Scrub): QueueJob => {
  const { data, failedReason, ...rest } = job.toJSON();
  const shown = {
    ...{ ...rest, data: shownData(data, most), failedReason: shownReason(failedReason, scrub) },
    // The log has it.
    ...{ stacktrace: null, returnvalue: null },
  };
  return {
    opts: { delay: job.opts.delay },
    toJSON: () => shown,
    getState: () => job.getState(),
    promote: refuse,
    remove: refuse,
    retry: refuse,
  };
};

export class ReadOnlyQueue extends BaseAdapter {
  readonly #queue: ReadableQueue;
  readonly #scrub: Scrub;

  constructor(queue: ReadableQueue, scrub: Scrub) {
    // Of a queue of BullMQ it would also look for flows, with a connection that is never closed. There are none.
    super('bull', { readOnlyMode: true });
    this.#queue = queue;
    this.#scrub = scrub;
  }

  getName = (): string => this.#queue.name;
  getStatuses = () => ['latest' as const, ...STATES];
  getJobStatuses = () => [...STATES];
  isPaused = (): Promise<boolean> => this.#queue.isPaused();

  getJobCounts = async () => {
    const counts = await this.#queue.getJobCounts(...STATES);
    return { completed: 0, paused: 0, 'waiting-children': 0, ...counts } as never;
  };

  /** One after the other: a job may have 512 kB, and between two of them the daemon does its work. */
  getJobs = async (states: string[], start = 0, end = 0): Promise<QueueJob[]> => {
    const wanted = STATES.filter((state) => states.includes(state));
    const jobs: QueueJob[] = [];
    for (const id of await this.#queue.getRanges([...wanted], start, end)) {
      const job = await this.#queue.getJob(id);
      if (job !== undefined) jobs.push(readOnlyJob(job, MOST_BYTES.listed, this.#scrub));
      await setImmediate();
    }
    return jobs;
  };

  getJob = async (id: string): Promise<QueueJob | undefined> => {
    const job = await this.#queue.getJob(id);
    return job && readOnlyJob(job, MOST_BYTES.alone, this.#scrub);
  };

  getJobLogs = async (): Promise<string[]> => [];
  getMetrics = async () => ({ meta: { count: 0, prevTS: 0, prevCount: 0 }, data: [], count: 0 });
  getRedisInfo = async (): Promise<null> => null;
  getJobSchedulers = async () => [];
  getJobSchedulersCount = async (): Promise<number> => 0;
  getGlobalConcurrency = async (): Promise<null> => null;

  addJob = refuse;
  clean = refuse;
  empty = refuse;
  obliterate = refuse;
  pause = refuse;
  promoteAll = refuse;
  removeJobScheduler = refuse;
  resume = refuse;
  runJobSchedulerNow = refuse;
  setGlobalConcurrency = refuse;
  updateJobScheduler = refuse;
}
