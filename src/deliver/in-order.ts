/**
 * Stage: a follow-up that plays an alert down waits while that alert is still on its way to the same destination, as after
 * a refusal. Else the alert would come last: people would read CRITICAL, and a tool for people on call would stay alarmed.
 */
import { type Alert, type Destination, isPlayedDown } from '../alert.ts';
import { type JobStage, rerun } from './stage.ts';

export interface InOrderDependencies {
  /** Those of these alert ids that still have to be sent there. Default: none. */
  waiting?(destination: Destination, ids: readonly string[]): Promise<readonly string[]>;
  now(): number;
}

/** The first wait; each further one is twice as long. */
const FIRST_WAIT_MS = 2000;
const LONGEST_WAIT_MS = 60_000;

const followed = (alert: Alert): string[] => (alert.followUp && isPlayedDown(alert) ? [alert.followUp.of] : []);

/**
 * Only a job of follow-ups alone waits: in a batch the digest shows both. The wait ends with the alert's delivery, at the
 * latest `retry.maxAge` after its first try. Until then it costs one short run a minute, and nothing has to be remembered and
 * woken for it.
 */
export const inOrder: JobStage<InOrderDependencies> = async ({ job, alerts }, { waiting, now }) => {
  if (waiting === undefined || job.gathering !== undefined || alerts.length === 0) return undefined;
  const firsts = alerts.flatMap(followed);
  if (firsts.length < alerts.length) return undefined;
  const left = await waiting(job.destination, firsts);
  if (left.length === 0) return undefined;
  const { waits = 0 } = job;
  const waitMs = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** waits);
  return rerun(now() + waitMs, { ...job, waits: waits + 1 });
};
