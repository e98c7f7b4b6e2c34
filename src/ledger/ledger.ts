/**
 * The books: what became of each alert at each destination. One hash an alert, kept for weeks and independent of the
 * queue's own retention; asked before every send, so that no repeat of a job sends a delivered alert again.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination, Parcel } from '../alert.ts';
import { execute } from '../redis/pipeline.ts';
import { iso } from '../time.ts';
import {
  ALERT_FIELD,
  type AlertRecord,
  type Booking,
  booked,
  type DeliveryRecord,
  isFinal,
  ledgerKeys,
  noteAlert,
  OPEN_FIELD,
  parseRecord,
  type Target,
  targetOf,
} from './record.ts';

export type { Act, AlertRecord, Attempt, DeliveryRecord, DeliveryState, Target } from './record.ts';

export interface Ledger {
  /** Notes that parcels are on their way, `by` whom where that is not the routes. What is noted already stays. */
  expect(parcels: readonly Parcel[], by?: string): Promise<void>;
  /** Those of a parcel's alerts that still have to be sent. */
  pending(destination: Destination, alerts: readonly Alert[]): Promise<Alert[]>;
  /** Books one attempt for every alert it carried. True where one of them had been delivered already. */
  book(destination: Target, alerts: readonly Alert[], entry: Booking): Promise<boolean>;
  read(alertId: string): Promise<AlertRecord | undefined>;
  /** Deliveries on their way now, by destination id; what has none is left out. */
  waiting(): Promise<Record<string, number>>;
  /** The date of the oldest alert of a protocol's source that is still on its way, in epoch milliseconds. */
  oldestOpen(track: Pick<Alert, 'service' | 'source' | 'protocol'>): Promise<number | undefined>;
  /** Alert ids that name a transaction. */
  byTransaction(txHash: string): Promise<string[]>;
}

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

/**
 * The same KEYS; ARGV: destination, record, whether it is final, alert's id. An alert is open until its last delivery ended,
 * and an end that came meanwhile stands. Gives 1 where the delivery ended by this, 2 where it had been delivered before.
 */
export const BOOK = `
local old = redis.call('HGET', KEYS[1], ARGV[1])
local state = old and cjson.decode(old).state
if ARGV[3] == '1' or not state or state == 'waiting' then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
if state == 'delivered' then return 2 end
if ARGV[3] == '0' or state ~= 'waiting' then return 0 end
redis.call('HINCRBY', KEYS[2], ARGV[1], -1)
if redis.call('HINCRBY', KEYS[1], 'open', -1) <= 0 then redis.call('ZREM', KEYS[3], ARGV[4]) end
return 1`;
const HAD_BEEN_DELIVERED = 2;

export const createLedger = (redis: Redis | Cluster, prefix: string, now: () => number): Ledger => {
  const keys = ledgerKeys(prefix);
  const keysOf = (alert: Alert): [string, string, string] => [keys.alert(alert.id), keys.waiting, keys.open(alert)];
  const nowIso = (): string => iso(now());

  const records = (destination: Target, alerts: readonly Alert[]): Promise<(DeliveryRecord | undefined)[]> =>
    Promise.all(alerts.map(async ({ id }) => parseRecord(await redis.hget(keys.alert(id), destination.id))));

  return {
    expect: async (parcels, by) => {
      if (parcels.length === 0) return;
      const batch = redis.pipeline();
      for (const alert of new Map(parcels.flatMap(({ alerts }) => alerts).map((one) => [one.id, one])).values()) {
        noteAlert(batch, keys, alert);
      }
      for (const { destination, alerts } of parcels) {
        const record: DeliveryRecord = {
          state: 'waiting',
          destination: targetOf(destination),
          at: nowIso(),
          attempts: [],
          ...(by === undefined ? {} : { by }),
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
    book: async (destination, alerts, entry) => {
      const known = await records(destination, alerts);
      const batch = redis.pipeline();
      alerts.forEach((alert, index) => {
        const record = booked(known[index], destination, entry);
        noteAlert(batch, keys, alert);
        const final = isFinal(record.state) ? '1' : '0';
        batch.eval(BOOK, 3, ...keysOf(alert), destination.id, JSON.stringify(record), final, alert.id);
      });
      return (await execute(batch)).includes(HAD_BEEN_DELIVERED);
    },
    read: async (id) => {
      const { [ALERT_FIELD]: alert, [OPEN_FIELD]: _open, ...deliveries } = await redis.hgetall(keys.alert(id));
      if (alert === undefined) return undefined;
      return {
        alert: JSON.parse(alert) as AlertRecord['alert'],
        deliveries: Object.values(deliveries).flatMap((json) => parseRecord(json) ?? []),
      };
    },
    waiting: async () => {
      const counts = Object.entries(await redis.hgetall(keys.waiting)).map(
        ([id, count]) => [id, Number(count)] as const,
      );
      return Object.fromEntries(counts.filter(([, count]) => count > 0));
    },
    oldestOpen: async (track) => {
      const [, at] = await redis.zrange(keys.open(track), '0', '0', 'WITHSCORES');
      return at === undefined ? undefined : Number(at);
    },
    byTransaction: (txHash) => redis.smembers(keys.transaction(txHash)),
  };
};
