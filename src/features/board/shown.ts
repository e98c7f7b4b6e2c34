/** What bull-board gets of a job: no address, as that may be a secret, and no more than it takes to look at. Pure. */
import { readParcelJob } from '../../queue/job.ts';
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

/** Fields are named one by one: what a later version adds may be a secret. */
export const shownData = (data: unknown, most: number): unknown => {
  if (typeof data !== 'object' || data === null || Object.keys(data).length === 0) return {};
  const job = readParcelJob(data);
  if ('unknownVersion' in job) return { notShown: `this daemon does not know version ${job.unknownVersion}` };
  const { v, share, attempt, firstTriedAt, unknownSince, format, moves, misses, yields, gathering, slot } = job;
  const { id, kind, label } = job.destination;
  const alerts = within(job.alerts, most);
  const left = job.alerts.length - alerts.length;
  return visible({
    ...{
      v,
      destination: { id, kind, label },
      share,
      attempt,
      firstTriedAt,
      unknownSince,
      format,
      moves,
      misses,
      yields,
    },
    ...{ batch: gathering, slot, alerts },
    ...(left === 0
      ? {}
      : { notShown: `${left} of ${job.alerts.length} alerts: see tocsin trace, or the job's own page` }),
  });
};

export const shownReason = (reason: string | undefined, scrub: (text: string) => string): string =>
  escapeInvisible(beginningOf(scrub(reason ?? ''), MOST_REASON));
