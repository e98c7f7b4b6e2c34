/** Stage: adds to each alert what helps people to decide. */
import type { Alert } from '../alert.ts';
import type { DispatchStage } from './stage.ts';

export interface EnrichDependencies {
  /** The same alerts in the same order, with context. Never throws. Default: nothing is added. */
  withContext?(alerts: readonly Alert[]): Promise<readonly Alert[]>;
}

export const enrich: DispatchStage<EnrichDependencies> = async (run, { withContext }) => {
  const enriched = await withContext?.(run.alerts.map(({ alert }) => alert));
  const alerts = run.alerts.map((one, index) => ({ ...one, alert: enriched?.[index] ?? one.alert }));
  return { ...run, alerts };
};
