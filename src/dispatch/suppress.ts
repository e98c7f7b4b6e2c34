/** Stage: takes out alerts that are muted or wait for approval. Both are recorded before anything is queued. */
import type { DispatchStage, RoutedAlert } from './stage.ts';

export interface SuppressDependencies {
  /** Each alert with the destinations that get it now; durable for the others when it resolves. Default: all get it. */
  filter?(alerts: readonly RoutedAlert[]): Promise<readonly RoutedAlert[]>;
}

export const suppress: DispatchStage<SuppressDependencies> = async (run, { filter }) => {
  if (filter === undefined || run.alerts.length === 0) return run;
  const alerts = await filter(run.alerts);
  return { ...run, alerts: alerts.filter(({ destinations }) => destinations.length > 0) };
};
