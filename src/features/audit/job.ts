/** The audit as a daemon repeats it: each protocol goes on where its last audit ended, and differences are logged. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { AlertIndex } from '../../ledger/index-by-date.ts';
import type { Conditions } from '../../ops/conditions.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { RedisClient } from '../../redis/connect.ts';
import { type Locks, SERVER_FUNCTION, underLock } from '../../redis/lock.ts';
import { countedInWords } from '../../text.ts';
import type { Auditor } from './audit.ts';
import { isBalanced, isMissingHealed, type ProtocolAudit, sumOf } from './balance.ts';
import type { AuditWindow } from './protocol.ts';

interface ServerChangeDependencies {
  redis: RedisClient;
  prefix: string;
  locks: Pick<Locks, 'take'>;
  /** The audit with `isUrgent`, see `createAuditJob`. */
  audit(service: string, signal: AbortSignal): Promise<void>;
  log: Pick<Logger, 'info'>;
  /** Default `SETTLED_AFTER_MS`. */
  settledAfterMs?: number;
}

/** By then every daemon is connected again, and the commands that it kept back have reached Redis. */
const SETTLED_AFTER_MS = 5000;

/** KEYS: the server for which a service was audited last; the last that Tocsin stopped. Gives both, and the present one. */
const LOOK = `${SERVER_FUNCTION}
return { redis.call('GET', KEYS[1]) or '', redis.call('GET', KEYS[2]) or '', server() }`;

const stoppedKey = (prefix: string): string => `${prefix}:server-stopped`;

/** The last that is written before an embedded server is stopped: one that has it later has all before it. Never rejects. */
export const noteServerStop = ({ redis, prefix }: Pick<ServerChangeDependencies, 'redis' | 'prefix'>) =>
  redis.eval(`${SERVER_FUNCTION} redis.call('SET', KEYS[1], server())`, 1, stoppedKey(prefix)).catch(() => {});

/**
 * Notices that another Redis server answers than before: it was started again, or a replica took its place. Either may lack
 * what was acknowledged last, with `appendfsync everysec` too, so each service is audited at once.
 *
 * Gives the look, to be called often. One daemon audits. The new server is noted after the audit has ended, so where a
 * daemon dies in between, the next one audits.
 */
export const createServerChange =
  ({ redis, prefix, locks, audit, log, settledAfterMs = SETTLED_AFTER_MS }: ServerChangeDependencies) =>
  /** One command and no lock, where nothing has changed. A server that does not say who it is never changes. */
  async (service: string, signal: AbortSignal): Promise<void> => {
    const key = `${prefix}:server:${service}`;
    const [known = '', stopped = '', present = ''] = (await redis.eval(LOOK, 2, key, stoppedKey(prefix))) as string[];
    if (present === '' || present === known) return;
    await underLock(locks, [`turn:server ${service}`], async () => {
      // An empty Redis has nothing to look for: the state file says where reading goes on. One that we stopped has lost nothing.
      if (known !== '' && known !== stopped) {
        // Not a warning: what is found to be lost is an error of its own.
        const what = 'Redis was restarted or failed over; an audit looks for what it may have lost';
        log.info({ service, server: present }, what);
        await sleep(settledAfterMs, undefined, { signal });
        await audit(service, signal);
        signal.throwIfAborted();
      }
      await redis.set(key, present);
    });
  };

/** After this many differences of one protocol the rest are only counted. */
const NAMED = 100;

/** Logs and counts the differences that a daemon's audit found. */
export const createDifferenceLog = (
  metrics: Pick<Metrics, 'auditDifferences'>,
  log: Pick<Logger, 'warn' | 'error'>,
) => {
  const disagreeing = new Set<string>();

  const logAll = (
    { service, protocol }: ProtocolAudit,
    kind: 'missing' | 'lost',
    found: readonly object[],
    words: { one: string; more: string },
  ): void => {
    if (found.length > 0) metrics.auditDifferences.inc({ service, protocol, kind }, found.length);
    for (const one of found.slice(0, NAMED)) log.error({ service, protocol, ...one }, words.one);
    if (found.length > NAMED) log.error({ service, protocol, more: found.length - NAMED }, words.more);
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
    const queuedAgain = isMissingHealed(audit);
    const missing = audit.missing.map(({ itemId, txHash, alertId }) => ({
      ...{ item: itemId, txHash, alert: alertId, queuedAgain },
    }));
    const lost = audit.lost.map(({ itemId, alertId, destination, healed }) => ({
      ...{ item: itemId, alert: alertId, destination, queuedAgain: healed },
    }));
    logAll(audit, 'missing', missing, { one: 'the ledger lacks an item', more: 'the ledger lacks more items' });
    logAll(audit, 'lost', lost, { one: 'a job was lost', more: 'more jobs were lost' });
    logDisagreement(audit);
  };
};

export type AuditMarks = ReturnType<typeof createAuditMarks>;

/** Up to when each protocol of a service was compared, in epoch milliseconds. */
export const createAuditMarks = (redis: Redis | Cluster, prefix: string) => {
  const key = (service: string): string => `${prefix}:audited:${service}`;
  return {
    of: async (service: string) => {
      const marks = await redis.hgetall(key(service));
      return (protocol: string): number | undefined =>
        Object.hasOwn(marks, protocol) ? Number(marks[protocol]) : undefined;
    },
    set: async (service: string, protocol: string, at: number): Promise<void> => {
      await redis.hset(key(service), protocol, at);
    },
  };
};

interface AuditJobDependencies {
  auditor: Auditor;
  marks: AuditMarks;
  alertIndex: Pick<AlertIndex, 'trim'>;
  metrics: Pick<Metrics, 'audits' | 'auditDifferences' | 'auditedTo'>;
  conditions: Pick<Conditions, 'report'>;
  everyMs: number;
  log: Logger;
}

/**
 * After Redis came back as another server, a delivery that has waited for this long without a job is lost. Much less than
 * `audit.lostAfter`: see decision 032 for what keeps a delivery from being sent twice.
 */
const URGENT_LOST_AFTER_MS = 5000;

export const createAuditJob = (dependencies: AuditJobDependencies) => {
  const { auditor, marks, alertIndex, metrics, conditions, everyMs, log } = dependencies;
  const running = new Map<string, Promise<void>>();
  const report = createDifferenceLog(metrics, log);

  /** A window with missing items that could not be queued again is compared once more next time. */
  const mark = async (audit: ProtocolAudit, { closed, since }: AuditWindow): Promise<void> => {
    if (isMissingHealed(audit) && closed > since) await marks.set(audit.service, audit.protocol, closed);
  };

  /** Daemons take turns, so each remembers what it found itself, and the list has it as long as one of them does. */
  const reportFound = (service: string, count: number): void => {
    if (count === 0) return;
    const what = `the audit of ${service} found ${countedInWords(count, 'delivery', 'deliveries')} that nobody had accounted for`;
    conditions.report('audit', what, { why: 'queued again, and late', of: service, lastsMs: 2 * everyMs });
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
    const sums = sumOf(protocols);
    reportFound(service, sums.missing + sums.lost);
    const ended = unaudited.length > 0 ? 'incomplete' : 'balanced';
    metrics.audits.inc({ service, outcome: protocols.every(isBalanced) ? ended : 'difference' });
    if (closed.length > 0) metrics.auditedTo.set({ service }, Math.min(...closed) / 1000);
    log.debug({ service, protocols: protocols.length, unaudited: unaudited.length }, 'audited');
    const removed = await alertIndex.trim();
    if (removed > 0) log.info({ removedAlerts: removed }, 'the ledger is full; its oldest alerts were removed');
  };

  return {
    /** Where an audit of the service still runs in this process, one that `isUrgent` waits; any other is skipped. */
    run: async (service: string, signal: AbortSignal, { isUrgent = false } = {}): Promise<void> => {
      while (running.has(service)) {
        if (!isUrgent) return;
        await running.get(service)?.catch(() => {});
      }
      const run = audit(service, isUrgent, signal).finally(() => running.delete(service));
      running.set(service, run);
      await run;
    },
  };
};
