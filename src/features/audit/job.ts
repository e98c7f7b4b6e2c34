/** The audit as a daemon does it, again and again: what was compared is not compared again, and differences are said. */
import type { Logger } from 'pino';
import type { Metrics } from '../../ops/metrics.ts';
import { isBalanced, isMissingHealed, type ProtocolAudit } from './balance.ts';
import type { AuditWindow } from './compare.ts';
import { type AuditDependencies, createAuditor } from './reconcile.ts';

export interface AuditJobDependencies extends AuditDependencies {
  metrics: Metrics;
  log: Logger;
}

/** After so many differences of one protocol the rest are only counted. */
const NAMED = 100;

export const createAuditJob = (dependencies: AuditJobDependencies) => {
  const { store, metrics, log } = dependencies;
  const auditor = createAuditor(dependencies);
  const running = new Set<string>();
  const disagreeing = new Set<string>();

  /** By protocol: everything that was written until then was compared. Epoch milliseconds. */
  const marksKey = (service: string): string => `${store.prefix}:audited:${service}`;

  const tellMissing = (audit: ProtocolAudit): void => {
    const { service, protocol, missing } = audit;
    const queuedAgain = isMissingHealed(audit);
    for (const { itemId, txHash, alertId } of missing.slice(0, NAMED)) {
      log.error({ service, protocol, item: itemId, txHash, alert: alertId, queuedAgain }, 'the books lack an item');
    }
    if (missing.length > NAMED) log.error({ service, protocol, missing: missing.length }, 'the books lack more items');
  };

  const tellLost = ({ service, protocol, lost }: ProtocolAudit): void => {
    for (const { itemId, alertId, destination, healed: queuedAgain } of lost.slice(0, NAMED)) {
      log.error({ service, protocol, item: itemId, alert: alertId, destination, queuedAgain }, 'a job was lost');
    }
    if (lost.length > NAMED) log.error({ service, protocol, lost: lost.length }, 'more jobs were lost');
  };

  /** Said once, until they agree again. */
  const tellDisagreement = ({ service, protocol, disagreement }: ProtocolAudit): void => {
    const key = JSON.stringify([service, protocol]);
    if (!disagreement) disagreeing.delete(key);
    else if (!disagreeing.has(key)) {
      disagreeing.add(key);
      log.warn({ service, protocol, ...disagreement }, 'the statistics of the service disagree with its list');
    }
  };

  const tell = (audit: ProtocolAudit): void => {
    const { service, protocol, missing, lost } = audit;
    if (missing.length > 0) metrics.auditDifferences.inc({ service, protocol, kind: 'missing' }, missing.length);
    if (lost.length > 0) metrics.auditDifferences.inc({ service, protocol, kind: 'lost' }, lost.length);
    tellMissing(audit);
    tellLost(audit);
    tellDisagreement(audit);
  };

  /** What could not be put on its way is compared again next time. */
  const mark = async (audit: ProtocolAudit, { closed, since }: AuditWindow): Promise<void> => {
    if (!isMissingHealed(audit) || closed <= since) return;
    await store.redis.hset(marksKey(audit.service), audit.protocol, closed);
  };

  const audit = async (service: string, signal: AbortSignal): Promise<void> => {
    const marks = await store.redis.hgetall(marksKey(service));
    const since = (protocol: string): number | undefined =>
      Object.hasOwn(marks, protocol) ? Number(marks[protocol]) : undefined;
    const closed: number[] = [];
    const onAudited = async (one: ProtocolAudit, window: AuditWindow): Promise<void> => {
      closed.push(window.closed);
      await mark(one, window);
    };
    const options = { since, isHealing: true, isThorough: false, onAudited };
    const { protocols, unaudited } = await auditor.run(service, options, signal);
    protocols.forEach(tell);
    const ended = unaudited.length > 0 ? 'incomplete' : 'balanced';
    metrics.audits.inc({ service, outcome: protocols.every(isBalanced) ? ended : 'difference' });
    if (closed.length > 0) metrics.auditedTo.set({ service }, Math.min(...closed) / 1000);
    log.debug({ service, protocols: protocols.length, unaudited: unaudited.length }, 'audited');
    await store.alertIndex.trim();
  };

  return {
    /** One audit of a service at a time, in this process; a slow one makes the next turn void. */
    run: async (service: string, signal: AbortSignal): Promise<void> => {
      if (running.has(service)) return;
      running.add(service);
      try {
        await audit(service, signal);
      } catch (error) {
        if (!signal.aborted) log.error({ service, err: error }, 'the audit failed; the next one tries again');
      } finally {
        running.delete(service);
      }
    },
  };
};
