/** Stage: notes when to check whether somebody has accepted the alerts. Before they are queued: a crash loses no check. */
import type { Alert } from '../alert.ts';
import type { DispatchStage } from './stage.ts';

export interface SetDeadlineDependencies {
  /** Durable when it resolves. Default: nobody checks. */
  setDeadline?(alerts: readonly Alert[]): Promise<void>;
}

export const setDeadline: DispatchStage<SetDeadlineDependencies> = async (run, dependencies) => {
  if (run.alerts.length > 0) await dependencies.setDeadline?.(run.alerts.map(({ alert }) => alert));
  return run;
};
