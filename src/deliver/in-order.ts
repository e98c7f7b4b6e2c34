/**
 * Stage: a follow-up that plays an alert down waits while that alert is still on its way to the same destination, as after
 * a refusal. Else the alert would come last: people would read CRITICAL, and a tool for people on call would stay alarmed.
 */
import { type Alert, type Destination, isPlayedDown } from '../alert.ts';
import { type JobStage, rerun } from './stage.ts';

export interface InOrderDependencies {
  /** Those of these alert ids that still have to be sent there. Default: none. */
  waiting?(destination: Destination, ids: readonly string[]): Promise<readonly string[]>;
  /** Of an alert's tries, in milliseconds. */
  maxAgeMs: number;
  now(): number;
}

/** The first wait; each further one is twice as long. */
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;

/** As often as it takes to get to the longest wait. */
const GROWING = Math.log2(LONGEST_WAIT_MS / FIRST_WAIT_MS);

const waitMsAfter = (waits: number): number => Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** waits);

/** Without the first, short ones. */
const waitedMs = (waits: number): number => Math.max(0, waits - Math.ceil(GROWING)) * LONGEST_WAIT_MS;

const followed = (alert: Alert): string[] => (alert.followUp && isPlayedDown(alert) ? [alert.followUp.of] : []);

/**
 * Only a job of follow-ups alone waits: in a batch the digest shows both. The wait ends with the alert's delivery, at the
 * latest after `retry.maxAge`: an alert that is held, or whose job was lost, is tried by nobody. Until then it costs one
 * short run a minute, and nothing has to be remembered and woken for it.
 */
export const inOrder: JobStage<InOrderDependencies> = async ({ job, alerts }, { waiting, maxAgeMs, now }) => {
  const { waits = 0, gathering, destination } = job;
  if (waiting === undefined || gathering !== undefined || alerts.length === 0) return undefined;
  const firsts = alerts.flatMap(followed);
  if (firsts.length < alerts.length || waitedMs(waits) >= maxAgeMs) return undefined;
  const left = await waiting(destination, firsts);
  return left.length === 0 ? undefined : rerun(now() + waitMsAfter(waits), { ...job, waits: waits + 1 });
};
