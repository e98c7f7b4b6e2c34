/** Stage: one parcel for each destination. Alerts that wait for correlation have parcels of their own. */
import { toParcels } from './parcels.ts';
import type { DispatchStage } from './stage.ts';

export const pack: DispatchStage<object> = async (run) => {
  const byDelay = Map.groupBy(run.alerts, ({ delayMs }) => delayMs);
  const groups = [...byDelay].map(([delayMs, alerts]) => ({
    parcels: toParcels(alerts),
    ...(delayMs === undefined ? {} : { delayMs }),
  }));
  return { ...run, groups };
};
