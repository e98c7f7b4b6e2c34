/** Alerts that differ by a number, for tests that do not care what is in them. */
import type { Alert } from '../../src/alert.ts';
import { alertId } from '../../src/item.ts';
import { inspectionAlert } from './alerts.ts';

export const hashOf = (n: number): string => `0x${n.toString(16).padStart(64, '0')}`;

export const makeAlert = (n: number, changes: Partial<Alert> = {}): Alert =>
  inspectionAlert({
    id: alertId('main', 'inspections', `item-${n}`),
    itemId: `item-${n}`,
    txHash: hashOf(n),
    item: { _id: `item-${n}`, txHash: hashOf(n) },
    ...changes,
  });
