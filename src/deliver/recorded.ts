/**
 * A job need not wait for the ledger after each message: the ends of the last ones may be on their way into it while the
 * next message is sent. But it waits where another run may have sent the same alerts meanwhile: after its first message,
 * and after one that took long. And it ends only when all of its ends are durable.
 */
import type { JobRun } from './stage.ts';

/**
 * What a killed daemon may send twice, of one kind: the message that each running job sends, and those whose ends are on
 * their way into the ledger.
 */
export interface InFlight {
  jobs: number;
  unrecorded: number;
  /** Both together. Jobs that run at once may be so many, so a kill doubles no more than if each job waited. */
  most: number;
}

export interface RecordedDependencies {
  inFlight: InFlight;
  /** Milliseconds by a clock that nobody sets. Default: the process' own. */
  elapsed?(): number;
}

/** The ledger has confirmed an end so lately, in milliseconds, that no other run can have the job. */
const RECENT_MS = 200;

const mayGoOn = ({ jobs, unrecorded, most }: InFlight): boolean => jobs + unrecorded <= most;

/** Notes that a message was delivered. True where another job delivered some of it in the same moment, or of one before. */
export const noteDelivered = async (
  run: JobRun,
  isRepeat: boolean | Promise<boolean>,
  { inFlight, elapsed = () => performance.now() }: RecordedDependencies,
): Promise<boolean> => {
  inFlight.unrecorded += 1;
  const recording = Promise.resolve(isRepeat).finally(() => {
    inFlight.unrecorded -= 1;
  });
  // Whoever waits for it later gets the error.
  recording.catch(() => {});
  run.unrecorded.push(recording);
  const isRecent = elapsed() - (run.confirmedAt ?? Number.NEGATIVE_INFINITY) < RECENT_MS;
  while (run.unrecorded.length > 0 && !(isRecent && mayGoOn(inFlight))) {
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
