/** Ends an alert that has no destination: dead, kept, and sent to the fallback. */

import type { Logger } from 'pino';
import type { Alert } from '../../alert.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { NO_DESTINATION } from '../../ledger/record.ts';
import { iso } from '../../time.ts';

export interface UnroutableDependencies {
  deadLetters: Pick<DeadLetters, 'add'>;
  ledger: Pick<Ledger, 'recordAttempt'>;
  /** Sends it to the fallback, with the reason. */
  toFallback(alert: Alert, why: string): Promise<void>;
  log: Pick<Logger, 'error'>;
  now(): number;
}

const NO_ROUTE = 'no destination';

/** The dead letter first and the ledger last, so that a crash in between repeats both. */
export const createUnroutable =
  ({ deadLetters, ledger, toFallback, log, now }: UnroutableDependencies) =>
  async (alert: Alert, problems: readonly string[]): Promise<void> => {
    const message = problems.length > 0 ? `${NO_ROUTE}: ${problems.join('; ')}` : `${NO_ROUTE}: it has no channels`;
    const end = { reason: 'no-destination', message, at: iso(now()) };
    await deadLetters.add({ alert, attempts: 0, ...end });
    await toFallback(alert, message);
    await ledger.recordAttempt(NO_DESTINATION, [alert], {
      state: 'dead',
      attempt: { outcome: 'dead', durationMs: 0, ...end },
    });
    const { service, protocol, itemId } = alert;
    log.error({ service, protocol, item: itemId, reason: message }, 'alert is dead');
  };
