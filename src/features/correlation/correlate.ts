/** Keeps a stored notification from being sent where inspections cover all its transactions. In doubt it is sent. */
import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import { longestIntervalMs } from '../../config/poll-section.ts';
import type { Config } from '../../config/schema.ts';
import { MOST_ALERTS } from '../../ledger/index-by-date.ts';
import type { AlertRecord, Ledger } from '../../ledger/ledger.ts';
import { type DeliveryRecord, ledgerKeys, RETENTION_SECONDS, targetOf } from '../../ledger/record.ts';
import { createWrites } from '../../ledger/writes.ts';
import { execute } from '../../redis/pipeline.ts';
import { transactionsIn } from '../../service/feed.ts';
import { iso, MINUTE_MS } from '../../time.ts';

/** What the ledger says of an alert that names a transaction. */
export interface Recorded {
  alert: Pick<Alert, 'id' | 'service' | 'protocol' | 'source' | 'type' | 'followUp' | 'at' | 'readAt'>;
  deliveries: readonly { state: string; destination: { id: string } }[];
}

/** Only what the service itself wrote, as news. */
export const mayBeCovered = ({ type, replay }: Alert): boolean => type === 'notification.created' && !replay;

const isInspection = ({ source, type, followUp }: Recorded['alert']): boolean =>
  source === 'inspections' && type.startsWith('inspection.') && followUp === undefined;

/** Deliveries that people have, or will have. */
const SENT: readonly string[] = ['delivered', 'waiting'];

/** The service writes both of one finding, and polls bring them, within this time. */
const NEAR_MS = MINUTE_MS;

/** Near the time between the writing of a notification and its reading, which an outage may hold up. */
const isNear = (at: number, notification: Pick<Alert, 'at' | 'readAt'>): boolean => {
  const readAt = Date.parse(notification.readAt);
  return at >= Math.min(Date.parse(notification.at), readAt) - NEAR_MS && at <= readAt + NEAR_MS;
};

/**
 * The inspection's alert that covers a notification at a destination: an inspection of the same protocol has to be sent
 * there for every transaction that it names. Of another one, which anybody may have made, people think less. So they do of
 * one that was there before: the first that was sent has to be near, by when Tocsin read it. `byTransaction`: the records of
 * each, never empty.
 */
export const coveringAlertAt = (
  notification: Alert,
  destination: string,
  byTransaction: readonly (readonly Recorded[])[],
): Alert['id'] | undefined => {
  const isCovering = ({ alert, deliveries }: Recorded): boolean =>
    alert.service === notification.service &&
    alert.protocol === notification.protocol &&
    isInspection(alert) &&
    deliveries.some(({ state, destination: { id } }) => id === destination && SENT.includes(state));
  const covering = byTransaction.map((records) => {
    const sent = records.filter(isCovering).map(({ alert }) => ({ id: alert.id, readAt: Date.parse(alert.readAt) }));
    return sent.toSorted((a, b) => a.readAt - b.readAt)[0];
  });
  const areNear = covering.every((first) => first !== undefined && isNear(first.readAt, notification));
  return areNear ? covering[0]?.id : undefined;
};

export type CoveredDeliveries = ReturnType<typeof createCoveredDeliveries>;

/** Ends deliveries that need no message of their own, because another alert covers them at their destination. */
export const createCoveredDeliveries = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const keys = ledgerKeys(prefix);
  const change = createWrites(redis, keys, now);
  return {
    /** Records a delivery as delivered with `other`. False where it was tried or has ended already: nothing changes. */
    end: async (alert: Alert, destination: Destination, other: Alert['id']): Promise<boolean> => {
      let isEnded = false;
      const next = (before: DeliveryRecord | undefined): DeliveryRecord | undefined => {
        isEnded = before === undefined || (before.state === 'waiting' && before.attempts.length === 0);
        if (!isEnded) return undefined;
        const end = { state: 'delivered', destination: targetOf(destination), at: iso(now()) } as const;
        return { ...end, attempts: [], with: other };
      };
      await change([{ destination, alert, next }]);
      return isEnded;
    },
    /** It is covered wherever it goes: lists of alerts count it no more. */
    everywhere: async ({ id, at }: Alert): Promise<void> => {
      const batch = redis.pipeline().zadd(keys.covered, Date.parse(at), id);
      batch.zremrangebyscore(keys.covered, '-inf', now() - RETENTION_SECONDS * 1000);
      await execute(batch.zremrangebyrank(keys.covered, 0, -(MOST_ALERTS + 1)));
    },
  };
};

interface CorrelationSettings {
  /** `alerts.correlate`. */
  isOn: boolean;
  /** Milliseconds that a notification waits for its inspection, which another poll brings. */
  waitMs: number;
}

interface CorrelationDependencies extends CorrelationSettings {
  ledger: Pick<Ledger, 'byTransaction' | 'read'>;
  covered: CoveredDeliveries;
  log: Pick<Logger, 'info' | 'warn'>;
}

/** Two polls bring the two at about the same moment; a notification that waits longer is late. */
const LONGEST_WAIT_MS = 3000;

const COUNTED = 'that inspections cover a notification could not be noted: the status page counts it';

/** A text with more hashes is a report of its own, and always sent. */
const MOST_TRANSACTIONS = 20;

export const correlationSettings = ({ alerts, poll }: Pick<Config, 'alerts' | 'poll'>): CorrelationSettings => ({
  isOn: alerts.correlate && alerts.sources.includes('inspections'),
  waitMs: Math.min(LONGEST_WAIT_MS, longestIntervalMs(poll)),
});

/** The transactions by which an alert is compared; none where it is sent anyway. */
const transactionsComparedBy = (alert: Alert): string[] => {
  if (!mayBeCovered(alert)) return [];
  const { message } = alert.item;
  const hashes = transactionsIn(typeof message === 'string' ? message : JSON.stringify(message ?? ''));
  return hashes.length > MOST_TRANSACTIONS ? [] : hashes;
};

export const createCorrelation = ({ ledger, covered, isOn, waitMs, log }: CorrelationDependencies) => {
  /** The transactions by which an alert is compared, where anything is. */
  const comparedBy = (alert: Alert): string[] => (isOn ? transactionsComparedBy(alert) : []);

  const recordsOf = async (hash: string) => {
    const records = await Promise.all((await ledger.byTransaction(hash)).map(ledger.read));
    return records.filter((record) => record?.alert.txHash?.toLowerCase() === hash) as AlertRecord[];
  };

  const noteIfEverywhere = async (alert: Alert): Promise<void> => {
    const record = await ledger.read(alert.id);
    if (record?.deliveries.every((one) => one.with !== undefined)) await covered.everywhere(alert);
  };

  /** Ends the deliveries that another alert covers; gives the other destinations. */
  const compare = async (alert: Alert, destinations: readonly Destination[]): Promise<Destination[]> => {
    const hashes = comparedBy(alert);
    if (hashes.length === 0) return [...destinations];
    const records = await Promise.all(hashes.map(recordsOf));
    const rest: Destination[] = [];
    for (const destination of destinations) {
      const covering = coveringAlertAt(alert, destination.id, records);
      const isCovered = covering !== undefined && (await covered.end(alert, destination, covering));
      if (!isCovered) rest.push(destination);
    }
    const { service, protocol, itemId } = alert;
    const line = { service, protocol, item: itemId, covered: destinations.length - rest.length, sent: rest.length };
    if (rest.length < destinations.length) log.info(line, 'an inspection covers this notification');
    if (rest.length === 0 && destinations.length > 0) {
      await noteIfEverywhere(alert).catch((err: unknown) => log.warn({ ...line, err }, COUNTED));
    }
    return rest;
  };

  /** Those of an alert's destinations where no inspection covers it. Never throws. */
  const uncoveredAt = async (alert: Alert, destinations: readonly Destination[]): Promise<Destination[]> => {
    try {
      return await compare(alert, destinations);
    } catch (error) {
      const line = { service: alert.service, item: alert.itemId, err: error };
      log.warn(line, 'a notification could not be compared with inspections; sending it');
      return [...destinations];
    }
  };

  return {
    uncoveredAt,
    /** Those of the alerts that wait for one destination and that no inspection covers there. */
    uncovered: async (destination: Destination, alerts: readonly Alert[]): Promise<Alert[]> => {
      const rest = await Promise.all(alerts.map(async (alert) => (await uncoveredAt(alert, [destination])).length > 0));
      return alerts.filter((_, index) => rest[index]);
    },
    delayOf: (alert: Alert): number | undefined => (comparedBy(alert).length > 0 ? waitMs : undefined),
  };
};

/**
 * Which stored notifications of a history its inspections cover: the rule of live alerts, over what is sent again and not
 * over the ledger, by when they were written. The inspections have to come first.
 */
export const createHistoryCorrelation = (config: Pick<Config, 'alerts' | 'poll'>) => {
  const { isOn } = correlationSettings(config);
  /** By destination, service and protocol, the transactions of the inspections that are sent there, with the first one's date. */
  const sent = new Map<string, Map<string, number>>();
  const keyOf = ({ service, protocol }: Alert, { id }: Destination): string => `${id} ${service} ${protocol}`;

  const note = (alert: Alert, destinations: readonly Destination[]): void => {
    if (alert.txHash === undefined || !isInspection(alert)) return;
    const [hash, at] = [alert.txHash.toLowerCase(), Date.parse(alert.at)];
    for (const destination of destinations) {
      const first = getOrCreate(sent, keyOf(alert, destination), () => new Map<string, number>());
      first.set(hash, Math.min(at, first.get(hash) ?? at));
    }
  };

  /** Those of its destinations where no inspection covers an alert; what is sent there may cover later ones. */
  return (alert: Alert, destinations: readonly Destination[]): Destination[] => {
    if (!isOn) return [...destinations];
    note(alert, destinations);
    const hashes = transactionsComparedBy({ ...alert, replay: false });
    if (hashes.length === 0) return [...destinations];
    const isCovered = (first: number | undefined): boolean =>
      first !== undefined && isNear(first, { at: alert.at, readAt: alert.at });
    return destinations.filter((one) => !hashes.every((hash) => isCovered(sent.get(keyOf(alert, one))?.get(hash))));
  };
};
