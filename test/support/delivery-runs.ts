/** What the stages of a delivery are handed, as tests need it. */

import type { Message } from '../../src/channels/channel.ts';
import type { AttemptRun, JobRun, MessageDependencies, MessageRun, Unit } from '../../src/deliver/stage.ts';
import type { Threads } from '../../src/deliver/threads.ts';
import type { ParcelJob } from '../../src/queue/job.ts';
import { parcelJob } from '../../src/queue/job.ts';
import { DESTINATION } from './deliveries.ts';
import { makeAlert } from './numbered.ts';

type Some<T> = T extends (...args: never[]) => unknown ? T : T extends object ? { [Key in keyof T]?: Some<T[Key]> } : T;

/** Of all that a delivery needs, what the stages of a test use. */
export type Handed = Some<MessageDependencies>;
export const handed = (some: Handed): MessageDependencies => some as MessageDependencies;

export const NOW = Date.parse('2026-11-20T12:00:00Z');
export const now = (): number => NOW;

export const jobOf = (numbers: readonly number[], changes: Partial<ParcelJob> = {}): ParcelJob => ({
  ...parcelJob({ destination: DESTINATION, alerts: numbers.map((n) => makeAlert(n)) }),
  ...changes,
});

export const jobRun = (job: ParcelJob, changes: Partial<JobRun> = {}): JobRun => ({
  job,
  signal: new AbortController().signal,
  holdsLock: () => true,
  alerts: [],
  shown: [],
  hasOpenBatch: false,
  units: [],
  uncomposable: [],
  messages: [],
  unrecorded: [],
  ...changes,
});

/** Nothing belongs together. */
export const NO_THREADS: Threads = {
  recall: async () => ({ known: new Map() }),
  find: async () => undefined,
  remember: async () => {},
  reassess: async () => undefined,
  noteReassessed: async () => {},
  owed: async () => [],
  reply: async () => undefined,
  noteReply: async () => {},
  claim: async () => undefined,
};

/** The message with all alerts of a job. */
export const messageOf = ({ destination, alerts }: ParcelJob, changes: Partial<Message> = {}): Message => ({
  destination,
  alerts,
  id: `message of ${alerts.map(({ itemId }) => itemId).join()}`,
  body: 'the body',
  isDigest: false,
  ...changes,
});

export const messageRun = (job: ParcelJob, changes: Partial<MessageRun> = {}): MessageRun => {
  const unit: Unit = { alerts: job.alerts, format: job.format };
  return { run: jobRun(job), unit, message: messageOf(job), composedAt: NOW, job, ...changes };
};

export const attemptRun = (changes: Partial<AttemptRun> = {}): AttemptRun => ({
  message: messageOf(jobOf([1, 2])),
  attempt: 1,
  firstTriedAt: NOW,
  canBePlainer: true,
  signal: new AbortController().signal,
  durationMs: 0,
  decision: { kind: 'stopping' },
  ...changes,
});
