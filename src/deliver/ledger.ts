/**
 * The books: what became of each alert at each destination. One hash an alert, kept for weeks and independent of the
 * queue's own retention; asked before every send, so that no repeat of a job sends a delivered alert again.
 */
import type { ChainableCommander, Cluster, Redis } from 'ioredis';
import type { Alert, Destination, Parcel } from '../alert.ts';

/** `waiting` is on its way; the other three are final, but `dead` may be retried by hand. */
export type DeliveryState = 'waiting' | 'delivered' | 'muted' | 'dead';

export interface Attempt {
  /** ISO 8601. */
  at: string;
  outcome: 'delivered' | 'retrying' | 'dead';
  durationMs: number;
  reason?: string;
  code?: string;
  /** What went wrong, in a sentence without secrets. */
  message?: string;
  maybeDelivered?: boolean;
}

export interface DeliveryRecord {
  state: DeliveryState;
  destination: { id: string; kind: string; label: string };
  /** ISO 8601 of the last change. */
  at: string;
  /** The provider's id of the message. */
  providerId?: string;
  /** The last few, oldest first. */
  attempts: Attempt[];
}

export interface AlertRecord {
  alert: Pick<Alert, 'id' | 'service' | 'protocol' | 'source' | 'type' | 'itemId' | 'at' | 'readAt' | 'txHash'>;
  deliveries: DeliveryRecord[];
}

export interface Ledger {
  /** Notes that parcels are on their way. Final states stay. */
  expect(parcels: readonly Parcel[]): Promise<void>;
  /** Those of a parcel's alerts that still have to be sent. */
  pending(destination: Destination, alerts: readonly Alert[]): Promise<Alert[]>;
  /** Books one attempt for every alert it carried. */
  book(
    destination: Destination,
    alerts: readonly Alert[],
    entry: { state: DeliveryState; attempt: Attempt; providerId?: string },
  ): Promise<void>;
  read(alertId: string): Promise<AlertRecord | undefined>;
  /** Deliveries on their way now, by destination id; what has none is left out. */
  waiting(): Promise<Record<string, number>>;
  /** The date of the oldest alert of a protocol's source that is still on its way, in epoch milliseconds. */
  oldestOpen(track: Pick<Alert, 'service' | 'source' | 'protocol'>): Promise<number | undefined>;
  /** Alert ids that name a transaction. */
  byTransaction(txHash: string): Promise<string[]>;
}

const RETENTION_SECONDS = 35 * 24 * 3600;
const ATTEMPTS_KEPT = 10;
const ALERT_FIELD = 'alert';
/** How many deliveries are on their way. */
const OPEN_FIELD = 'open';

/**
 * KEYS: the alert, the counts, the open ones of its track; ARGV: destination, record, date, alert's id.
 * Counts a delivery only when it is noted for the first time.
 */
const EXPECT = `
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
redis.call('HINCRBY', KEYS[1], 'open', 1)
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[4])
return 1`;

/** The same KEYS; ARGV: destination, record, whether it is final, alert's id. An alert is open until its last delivery ended. */
const BOOK = `
local old = redis.call('HGET', KEYS[1], ARGV[1])
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if ARGV[3] == '0' or not old or cjson.decode(old).state ~= 'waiting' then return 0 end
redis.call('HINCRBY', KEYS[2], ARGV[1], -1)
if redis.call('HINCRBY', KEYS[1], 'open', -1) <= 0 then redis.call('ZREM', KEYS[3], ARGV[4]) end
return 1`;

const isFinal = (state: DeliveryState): boolean => state !== 'waiting';

const parseRecord = (json: string | null | undefined): DeliveryRecord | undefined =>
  json ? (JSON.parse(json) as DeliveryRecord) : undefined;

const summary = ({ id, service, protocol, source, type, itemId, at, readAt, txHash }: Alert): AlertRecord['alert'] => ({
  id,
  service,
  protocol,
  source,
  type,
  itemId,
  at,
  readAt,
  ...(txHash === undefined ? {} : { txHash }),
});

export const createLedger = (redis: Redis | Cluster, prefix: string, now: () => number): Ledger => {
  const alertKey = (id: string): string => `${prefix}:alert:${id}`;
  const transactionKey = (hash: string): string => `${prefix}:tx:${hash.toLowerCase()}`;
  const waitingKey = `${prefix}:waiting`;
  const openKey = ({ service, source, protocol }: Pick<Alert, 'service' | 'source' | 'protocol'>): string =>
    `${prefix}:open:${JSON.stringify([service, source, protocol])}`;
  const keysOf = (alert: Alert): [string, string, string] => [alertKey(alert.id), waitingKey, openKey(alert)];
  const nowIso = (): string => new Date(now()).toISOString();

  const records = (destination: Destination, alerts: readonly Alert[]): Promise<(DeliveryRecord | undefined)[]> =>
    Promise.all(alerts.map(async ({ id }) => parseRecord(await redis.hget(alertKey(id), destination.id))));

  const noteAlert = (batch: ChainableCommander, alert: Alert): void => {
    batch.hsetnx(alertKey(alert.id), ALERT_FIELD, JSON.stringify(summary(alert)));
    batch.expire(alertKey(alert.id), RETENTION_SECONDS);
    if (alert.txHash === undefined) return;
    batch.sadd(transactionKey(alert.txHash), alert.id);
    batch.expire(transactionKey(alert.txHash), RETENTION_SECONDS);
  };

  const target = ({ id, kind, label }: Destination) => ({ id, kind, label });

  return {
    expect: async (parcels) => {
      if (parcels.length === 0) return;
      const batch = redis.pipeline();
      for (const alert of new Map(parcels.flatMap(({ alerts }) => alerts).map((one) => [one.id, one])).values()) {
        noteAlert(batch, alert);
      }
      for (const { destination, alerts } of parcels) {
        const record: DeliveryRecord = {
          state: 'waiting',
          destination: target(destination),
          at: nowIso(),
          attempts: [],
        };
        for (const alert of alerts) {
          batch.eval(
            EXPECT,
            3,
            ...keysOf(alert),
            destination.id,
            JSON.stringify(record),
            String(Date.parse(alert.at)),
            alert.id,
          );
        }
      }
      await execute(batch);
    },
    pending: async (destination, alerts) => {
      const known = await records(destination, alerts);
      return alerts.filter((_, index) => !isFinal(known[index]?.state ?? 'waiting'));
    },
    book: async (destination, alerts, { state, attempt, providerId }) => {
      const known = await records(destination, alerts);
      const batch = redis.pipeline();
      alerts.forEach((alert, index) => {
        const record: DeliveryRecord = {
          state,
          destination: target(destination),
          at: attempt.at,
          ...(providerId === undefined ? {} : { providerId }),
          attempts: [...(known[index]?.attempts ?? []), attempt].slice(-ATTEMPTS_KEPT),
        };
        noteAlert(batch, alert);
        const final = isFinal(state) ? '1' : '0';
        batch.eval(BOOK, 3, ...keysOf(alert), destination.id, JSON.stringify(record), final, alert.id);
      });
      await execute(batch);
    },
    read: async (id) => {
      const { [ALERT_FIELD]: alert, [OPEN_FIELD]: _open, ...deliveries } = await redis.hgetall(alertKey(id));
      if (alert === undefined) return undefined;
      return {
        alert: JSON.parse(alert) as AlertRecord['alert'],
        deliveries: Object.values(deliveries).flatMap((json) => parseRecord(json) ?? []),
      };
    },
    waiting: async () => {
      const counts = Object.entries(await redis.hgetall(waitingKey)).map(([id, count]) => [id, Number(count)] as const);
      return Object.fromEntries(counts.filter(([, count]) => count > 0));
    },
    oldestOpen: async (track) => {
      const [, at] = await redis.zrange(openKey(track), '0', '0', 'WITHSCORES');
      return at === undefined ? undefined : Number(at);
    },
    byTransaction: (txHash) => redis.smembers(transactionKey(txHash)),
  };
};

/** A pipeline resolves even where commands failed; a book that was not written must be an error. */
const execute = async (batch: ChainableCommander): Promise<void> => {
  for (const [error] of (await batch.exec()) ?? []) if (error) throw error;
};
