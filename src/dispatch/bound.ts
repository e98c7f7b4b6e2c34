/** Stage: cuts items that are too large, and marks their alerts. What comes after this holds an item many times over. */
import type { Alert } from '../alert.ts';
import { boundItem, itemSize } from '../item-size.ts';
import type { DispatchStage } from './stage.ts';

export interface BoundDependencies {
  /** Called for each alert whose item was cut. */
  onTruncated?(alert: Alert, bytes: number): void;
}

export const bound: DispatchStage<BoundDependencies> = async (run, { onTruncated }) => {
  const alerts = run.alerts.map((one) => {
    const item = boundItem(one.alert.item);
    if (item === one.alert.item) return one;
    const alert = { ...one.alert, item, truncatedFrom: itemSize(one.alert.item) };
    onTruncated?.(alert, alert.truncatedFrom);
    return { ...one, alert };
  });
  return { ...run, alerts };
};
