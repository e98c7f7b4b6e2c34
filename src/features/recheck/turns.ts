/** How often rechecks run. */
import type { Config } from '../../config/schema.ts';

export interface RecheckConfig {
  alerts: Pick<Config['alerts'], 'secondLook' | 'assessments' | 'sources'>;
}

const LONGEST_MS = 15_000;
const SHORTEST_MS = 100;

export const hasRecheck = ({ alerts }: RecheckConfig): boolean =>
  alerts.secondLook.length > 0 && alerts.sources.includes('inspections');

/** Milliseconds between two turns: a recheck is late by an eighth of the first offset at most. */
export const recheckEveryMs = ({ alerts }: RecheckConfig): number =>
  Math.max(SHORTEST_MS, Math.min(LONGEST_MS, Math.floor(Math.min(...alerts.secondLook) / 8)));
