/** Keeps the dead letters within their bound, and says what goes. */
import type { Logger } from 'pino';
import { type DeadLetters, MOST_DEAD } from '../../ledger/dead-letters.ts';
import type { Metrics } from '../../ops/metrics.ts';

export interface DeadLetterBoundDependencies {
  dead: Pick<DeadLetters, 'trim'>;
  metrics: Pick<Metrics, 'deadRemoved'>;
  /** What `dead` keeps. Default `MOST_DEAD`. */
  most?: number;
  log: Pick<Logger, 'error'>;
}

/** One command while there are few. */
export const createDeadLetterBound =
  ({ dead, metrics, most = MOST_DEAD, log }: DeadLetterBoundDependencies) =>
  async (): Promise<void> => {
    const removed = await dead.trim();
    if (removed === 0) return;
    metrics.deadRemoved.inc(removed);
    log.error({ removedLetters: removed, most }, 'too many dead deliveries; the oldest were removed');
  };
