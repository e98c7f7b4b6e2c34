/**
 * A job need not wait for the ledger after each message: the end of the last one may be on its way into it while the
 * next message is sent. But it waits where another run may have sent the same alerts meanwhile: after its first message,
 * and after one that took long. And it ends only when all of its ends are durable.
 */
import type { JobRun } from './stage.ts';

export interface RecordedDependencies {
  /** Milliseconds by a clock that nobody sets. Default: the process' own. */
  elapsed?(): number;
}

/** Ends of one job on their way: so many of its messages a killed daemon may send twice, besides the one in flight. */
const MOST_UNRECORDED = 1;
/** The ledger has confirmed an end so lately, in milliseconds, that no other run can have the job. */
const RECENT_MS = 200;

/** Notes that a message was delivered. True where another job delivered some of it in the same moment, or of one before. */
export const noteDelivered = async (
  run: JobRun,
  isRepeat: boolean | Promise<boolean>,
  { elapsed = () => performance.now() }: RecordedDependencies,
): Promise<boolean> => {
  const recording = Promise.resolve(isRepeat);
  // Whoever waits for it later gets the error.
  recording.catch(() => {});
  run.unrecorded.push(recording);
  const isRecent = elapsed() - (run.confirmedAt ?? Number.NEGATIVE_INFINITY) < RECENT_MS;
  for (const most = isRecent ? MOST_UNRECORDED : 0; run.unrecorded.length > most; ) {
    if (await run.unrecorded.shift()) return true;
    run.confirmedAt = elapsed();
  }
  return false;
};

/** When all ends of a run are durable. True where another job delivered something of it as well. */
export const whenRecorded = async (run: JobRun): Promise<boolean> => {
  const repeats = await Promise.all(run.unrecorded.splice(0));
  return repeats.includes(true);
};
