/** Stage: what is on its way to the fallback ends where somebody has acknowledged it meanwhile. */
import type { Alert, Destination } from '../alert.ts';
import type { JobStage } from './stage.ts';

export interface AcknowledgedDependencies {
  /**
   * Those of `alerts`, all on their way to the fallback, that nobody has acknowledged; the deliveries of the others are
   * ended. Default: all.
   */
  unacknowledged?(destination: Destination, alerts: readonly Alert[]): Promise<readonly Alert[]>;
}

/** Only the fallback's deliveries say why they are made. */
const isEscalated = ({ notice }: Alert): boolean => notice !== undefined;

/** Those of `alerts` that still go to `destination`. One question to Redis, only where some are escalated. */
export const notAcknowledged = async (
  destination: Destination,
  alerts: readonly Alert[],
  { unacknowledged }: AcknowledgedDependencies,
): Promise<readonly Alert[]> => {
  const escalated = alerts.filter(isEscalated);
  if (unacknowledged === undefined || escalated.length === 0) return alerts;
  const left = new Set(await unacknowledged(destination, escalated));
  return alerts.filter((alert) => !isEscalated(alert) || left.has(alert));
};

/** Before each run: a message that has to wait, or is tried again, is asked about again. `compose` asks between messages. */
export const acknowledged: JobStage<AcknowledgedDependencies> = async (run, dependencies) => {
  run.alerts = await notAcknowledged(run.job.destination, run.alerts, dependencies);
  return undefined;
};
