/** Logs and counts the differences that a daemon's audit found. */
import type { Logger } from 'pino';
import type { Metrics } from '../../ops/metrics.ts';
import { isMissingHealed, type ProtocolAudit } from './balance.ts';

export interface DifferenceLogDependencies {
  metrics: Pick<Metrics, 'auditDifferences'>;
  log: Pick<Logger, 'warn' | 'error'>;
}

/** After this many differences of one protocol the rest are only counted. */
const NAMED = 100;

export const createDifferenceLog = ({ metrics, log }: DifferenceLogDependencies) => {
  const disagreeing = new Set<string>();

  const logMissing = (audit: ProtocolAudit): void => {
    const { service, protocol, missing } = audit;
    if (missing.length > 0) metrics.auditDifferences.inc({ service, protocol, kind: 'missing' }, missing.length);
    const queuedAgain = isMissingHealed(audit);
    for (const { itemId, txHash, alertId } of missing.slice(0, NAMED)) {
      log.error({ service, protocol, item: itemId, txHash, alert: alertId, queuedAgain }, 'the ledger lacks an item');
    }
    if (missing.length > NAMED)
      log.error({ service, protocol, more: missing.length - NAMED }, 'the ledger lacks more items');
  };

  const logLost = ({ service, protocol, lost }: ProtocolAudit): void => {
    if (lost.length > 0) metrics.auditDifferences.inc({ service, protocol, kind: 'lost' }, lost.length);
    for (const { itemId, alertId, destination, healed: queuedAgain } of lost.slice(0, NAMED)) {
      log.error({ service, protocol, item: itemId, alert: alertId, destination, queuedAgain }, 'a job was lost');
    }
    if (lost.length > NAMED) log.error({ service, protocol, more: lost.length - NAMED }, 'more jobs were lost');
  };

  /** Logged once, until they agree again. */
  const logDisagreement = ({ service, protocol, disagreement }: ProtocolAudit): void => {
    const key = JSON.stringify([service, protocol]);
    if (!disagreement) disagreeing.delete(key);
    else if (!disagreeing.has(key)) {
      disagreeing.add(key);
      log.warn({ service, protocol, ...disagreement }, 'the statistics of the service disagree with its list');
    }
  };

  return (audit: ProtocolAudit): void => {
    logMissing(audit);
    logLost(audit);
    logDisagreement(audit);
  };
};
