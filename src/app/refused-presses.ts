/** Presses that had no effect: each is counted, and the log tells a flood of one reason in one line a minute. */
import type { Logger } from 'pino';
import type { OnRefused } from '../features/acknowledgement/press.ts';
import type { Metrics } from '../ops/metrics.ts';
import { createRareWarning } from '../ops/rare-warning.ts';

export interface RefusedPressesDependencies {
  metrics: Pick<Metrics, 'pressesRefused'>;
  log: Pick<Logger, 'warn'>;
  now(): number;
}

export const createOnRefused = ({ metrics, log, now }: RefusedPressesDependencies): OnRefused => {
  const warnings = new Map<string, (facts: object) => void>();
  return ({ kind, reason }, facts) => {
    metrics.pressesRefused.inc({ kind, reason });
    const key = `${kind} ${reason}`;
    const warn = warnings.get(key) ?? createRareWarning({ log, now, text: 'a press was refused' });
    warnings.set(key, warn);
    warn({ kind, reason, ...facts });
  };
};
