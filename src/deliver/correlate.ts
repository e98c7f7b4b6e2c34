/** Stage: leaves out alerts that another alert covers by now, in jobs that waited for that (`unlessTold`). */
import type { Alert, Destination } from '../alert.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { JobStage } from './stage.ts';

export interface CorrelateDependencies {
  /** Those of `alerts` that no other alert covers there; the others are recorded as delivered. Default: all. */
  uncovered?(destination: Destination, alerts: readonly Alert[]): Promise<readonly Alert[]>;
}

export const uncoveredOf = async (
  { destination, unlessTold }: ParcelJob,
  alerts: readonly Alert[],
  { uncovered }: CorrelateDependencies,
): Promise<readonly Alert[]> => (unlessTold && uncovered ? uncovered(destination, alerts) : alerts);

export const correlate: JobStage<CorrelateDependencies> = async (run, dependencies) => {
  run.alerts = await uncoveredOf(run.job, run.alerts, dependencies);
  return undefined;
};
