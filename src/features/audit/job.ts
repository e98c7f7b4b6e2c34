/** The audit as a daemon repeats it: each protocol goes on where its last audit ended, and differences are logged. */
import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { AlertIndex } from '../../ledger/index-by-date.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { Troubles } from '../../ops/troubles.ts';
import { countedInWords } from '../../text.ts';
import type { Auditor } from './audit.ts';
import { isBalanced, isMissingHealed, type ProtocolAudit } from './balance.ts';
import { createDifferenceLog } from './difference-log.ts';
import type { AuditWindow } from './reconcile.ts';

/** Up to when each protocol of a service was compared, in epoch milliseconds. */
export interface AuditMarks {
  of(service: string): Promise<(protocol: string) => number | undefined>;
  set(service: string, protocol: string, at: number): Promise<void>;
}

export const createAuditMarks = (redis: Redis | Cluster, prefix: string): AuditMarks => {
  const key = (service: string): string => `${prefix}:audited:${service}`;
  return {
    of: async (service) => {
      const marks = await redis.hgetall(key(service));
      return (protocol) => (Object.hasOwn(marks, protocol) ? Number(marks[protocol]) : undefined);
    },
    set: async (service, protocol, at) => {
      await redis.hset(key(service), protocol, at);
    },
  };
};

export interface AuditJobDependencies {
  auditor: Auditor;
  marks: AuditMarks;
  alertIndex: Pick<AlertIndex, 'trim'>;
  metrics: Pick<Metrics, 'audits' | 'auditDifferences' | 'auditedTo'>;
  troubles: Pick<Troubles, 'report'>;
  /** Between two audits. */
  everyMs: number;
  log: Logger;
}

const differencesOf = (audits: readonly ProtocolAudit[]): number =>
  audits.reduce((sum, { missing, lost }) => sum + missing.length + lost.length, 0);

/**
 * After Redis came back as another server, whatever has waited for this long without a job is lost. Much less than
 * `audit.lostAfter`: see decision 032 for what keeps a delivery from being sent twice.
 */
const URGENT_LOST_AFTER_MS = 5000;

export const createAuditJob = (dependencies: AuditJobDependencies) => {
  const { auditor, marks, alertIndex, metrics, troubles, everyMs, log } = dependencies;
  const running = new Map<string, Promise<void>>();
  const report = createDifferenceLog({ metrics, log });

  /** A window with missing items that could not be queued again is compared once more next time. */
  const mark = async (audit: ProtocolAudit, { closed, since }: AuditWindow): Promise<void> => {
    if (isMissingHealed(audit) && closed > since) await marks.set(audit.service, audit.protocol, closed);
  };

  /** Daemons take turns, so each remembers what it found itself, and the list has it as long as one of them does. */
  const reportTrouble = (service: string, count: number): void => {
    if (count === 0) return;
    const what = `the audit of ${service} found ${countedInWords(count, 'delivery', 'deliveries')} that nobody had accounted for`;
    troubles.report('audit', what, { why: 'queued again, and late', of: service, lastsMs: 2 * everyMs });
  };

  const audit = async (service: string, isUrgent: boolean, signal: AbortSignal): Promise<void> => {
    const closed: number[] = [];
    const onAudited = async (one: ProtocolAudit, window: AuditWindow): Promise<void> => {
      closed.push(window.closed);
      await mark(one, window);
    };
    const haste = isUrgent ? { lostAfterMs: URGENT_LOST_AFTER_MS } : {};
    const options = { since: await marks.of(service), isHealing: true, isThorough: false, onAudited, ...haste };
    const { protocols, unaudited } = await auditor.run(service, options, signal);
    protocols.forEach(report);
    reportTrouble(service, differencesOf(protocols));
    const ended = unaudited.length > 0 ? 'incomplete' : 'balanced';
    metrics.audits.inc({ service, outcome: protocols.every(isBalanced) ? ended : 'difference' });
    if (closed.length > 0) metrics.auditedTo.set({ service }, Math.min(...closed) / 1000);
    log.debug({ service, protocols: protocols.length, unaudited: unaudited.length }, 'audited');
    const removed = await alertIndex.trim();
    if (removed > 0) log.info({ removedAlerts: removed }, 'the ledger is full; its oldest alerts were removed');
  };

  const attempt = async (service: string, isUrgent: boolean, signal: AbortSignal): Promise<void> => {
    try {
      await audit(service, isUrgent, signal);
    } catch (error) {
      if (!signal.aborted) log.error({ service, err: error }, 'the audit failed; the next one tries again');
    }
  };

  return {
    /** Where an audit of the service still runs in this process, one that `isUrgent` waits; any other is skipped. */
    run: async (service: string, signal: AbortSignal, { isUrgent = false } = {}): Promise<void> => {
      while (running.has(service)) {
        if (!isUrgent) return;
        await running.get(service);
      }
      const run = attempt(service, isUrgent, signal).finally(() => running.delete(service));
      running.set(service, run);
      await run;
    },
  };
};
