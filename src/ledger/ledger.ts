/**
 * What became of each alert at each destination: one hash an alert, kept for weeks and independent of the queue's own
 * retention. Asked before every send, so that a repeated job sends no delivered alert again.
 */
import type { ChainableCommander, Cluster, Redis } from 'ioredis';
import type { Alert, Destination, Parcel } from '../alert.ts';
import { execute } from '../redis/pipeline.ts';
import { iso } from '../time.ts';
import {
  ALERT_FIELD,
  type AlertRecord,
  type AttemptResult,
  afterAttempt,
  CLOSE_ALERT,
  type DeliveryRecord,
  type DeliveryState,
  isFinal,
  type LedgerKeys,
  ledgerKeys,
  OPEN_ALERT,
  OPEN_FIELD,
  parseRecord,
  REPLACES,
  RETENTION_SECONDS,
  recordAlert,
  type Target,
  targetOf,
} from './record.ts';

export type { Act, AlertRecord, Attempt, DeliveryRecord, DeliveryState, Target } from './record.ts';

export interface Ledger {
  /** Records deliveries as waiting; `by` names who asked for them, where that is not the routes. Known ones stay as they are. */
  recordWaiting(parcels: readonly Parcel[], by?: string): Promise<void>;
  /** Those of a parcel's alerts that still have to be sent. */
  pending(destination: Destination, alerts: readonly Alert[]): Promise<Alert[]>;
  /**
   * Records one attempt for every alert in it; an end that was reached stays, see `REPLACES`. Gives, in the order of
   * `alerts`, the state that each was found in; undefined where the ledger did not know it.
   */
  recordAttempt(
    destination: Target,
    alerts: readonly Alert[],
    result: AttemptResult,
  ): Promise<(DeliveryState | undefined)[]>;
  read(alertId: string): Promise<AlertRecord | undefined>;
  /** How many deliveries wait, by destination id; a destination without any is left out. */
  waitingByDestination(): Promise<Record<string, number>>;
  /** The date of a track's oldest alert with a waiting delivery, in epoch milliseconds. */
  oldestOpen(track: Pick<Alert, 'service' | 'source' | 'protocol'>): Promise<number | undefined>;
  /** Alert ids that name a transaction. */
  byTransaction(txHash: string): Promise<string[]>;
}

/**
 * KEYS: the alert, the counts, the track's open alerts; ARGV: destination, record, date, alert's id.
 * Counts a delivery only when it is recorded for the first time.
 */
const RECORD_WAITING = `${OPEN_ALERT}
if redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2]) == 0 then return 0 end
redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
openAlert(KEYS[1])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[4])
return 1`;

/**
 * The same KEYS; ARGV: destination, record, its state, alert's id, the states it takes the place of: the record was made
 * from what was read, and another end may have been reached since. An alert is open until its last delivery has ended. An
 * unknown delivery that goes on waiting is counted, as its end will be.
 * Gives the state that was found; '' where the delivery is unknown.
 */
export const RECORD_ATTEMPT = `${OPEN_ALERT}${CLOSE_ALERT}
local old = redis.call('HGET', KEYS[1], ARGV[1])
local state = old and cjson.decode(old).state or ''
if old and not string.find(ARGV[5], state, 1, true) then return state end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
local waits = ARGV[3] == 'waiting'
if state == 'waiting' and not waits then
  redis.call('HINCRBY', KEYS[2], ARGV[1], -1)
  if redis.call('HINCRBY', KEYS[1], 'open', -1) > 0 then return state end
  redis.call('ZREM', KEYS[3], ARGV[4])
  redis.call('EXPIRE', KEYS[1], ${RETENTION_SECONDS})
elseif state == '' and waits then
  redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
  openAlert(KEYS[1])
elseif state == '' then
  closeAlert(KEYS[1])
end
return state`;

const scriptKeys = (keys: LedgerKeys, alert: Alert) => [keys.alert(alert.id), keys.waiting, keys.open(alert)] as const;

const waitingRecord = (destination: Destination, at: string, by?: string): DeliveryRecord => ({
  state: 'waiting',
  destination: targetOf(destination),
  at,
  attempts: [],
  ...(by === undefined ? {} : { by }),
});

const addWaiting = (
  batch: ChainableCommander,
  keys: LedgerKeys,
  { destination, alerts }: Parcel,
  json: string,
): void => {
  for (const alert of alerts) {
    const date = String(Date.parse(alert.at));
    batch.eval(RECORD_WAITING, 3, ...scriptKeys(keys, alert), destination.id, json, date, alert.id);
  }
};

/** What changes with a delivery. */
const createWrites = (redis: Redis | Cluster, keys: LedgerKeys, now: () => number) => {
  const records = async (destination: Target, alerts: readonly Alert[]): Promise<(DeliveryRecord | undefined)[]> => {
    const [only] = alerts;
    // A pipeline costs more than its one command.
    if (only && alerts.length === 1) return [parseRecord(await redis.hget(keys.alert(only.id), destination.id))];
    const batch = redis.pipeline();
    for (const { id } of alerts) batch.hget(keys.alert(id), destination.id);
    return ((await execute(batch)) as (string | null)[]).map(parseRecord);
  };

  const writes: Pick<Ledger, 'recordWaiting' | 'pending' | 'recordAttempt'> = {
    recordWaiting: async (parcels, by) => {
      if (parcels.length === 0) return;
      const batch = redis.pipeline();
      const alerts = new Map(parcels.flatMap((parcel) => parcel.alerts).map((alert) => [alert.id, alert]));
      for (const alert of alerts.values()) recordAlert(batch, keys, alert);
      const at = iso(now());
      for (const parcel of parcels) {
        addWaiting(batch, keys, parcel, JSON.stringify(waitingRecord(parcel.destination, at, by)));
      }
      await execute(batch);
    },
    pending: async (destination, alerts) => {
      const known = await records(destination, alerts);
      return alerts.filter((_, index) => !isFinal(known[index]?.state ?? 'waiting'));
    },
    recordAttempt: async (destination, alerts, result) => {
      const known = await records(destination, alerts);
      const batch = redis.pipeline();
      // The others were recorded when they were queued.
      for (const [index, alert] of alerts.entries()) if (!known[index]) recordAlert(batch, keys, alert);
      alerts.forEach((alert, index) => {
        const record = afterAttempt(known[index], destination, result);
        const written = [
          destination.id,
          JSON.stringify(record),
          record.state,
          alert.id,
          REPLACES[record.state].join(' '),
        ];
        batch.eval(RECORD_ATTEMPT, 3, ...scriptKeys(keys, alert), ...written);
      });
      const answers = await execute(batch);
      const found = answers.slice(answers.length - alerts.length);
      return found.map((state) => (state === '' ? undefined : (state as DeliveryState)));
    },
  };
  return writes;
};

export const createLedger = (redis: Redis | Cluster, prefix: string, now: () => number): Ledger => {
  const keys = ledgerKeys(prefix);
  return {
    ...createWrites(redis, keys, now),
    read: async (id) => {
      const { [ALERT_FIELD]: alert, [OPEN_FIELD]: _open, ...deliveries } = await redis.hgetall(keys.alert(id));
      if (alert === undefined) return undefined;
      return {
        alert: JSON.parse(alert) as AlertRecord['alert'],
        deliveries: Object.values(deliveries).flatMap((json) => parseRecord(json) ?? []),
      };
    },
    waitingByDestination: async () => {
      const counts = Object.entries(await redis.hgetall(keys.waiting));
      return Object.fromEntries(counts.map(([id, count]) => [id, Number(count)] as const).filter(([, n]) => n > 0));
    },
    oldestOpen: async (track) => {
      const [, at] = await redis.zrange(keys.open(track), '0', '0', 'WITHSCORES');
      return at === undefined ? undefined : Number(at);
    },
    byTransaction: (txHash) => redis.smembers(keys.transaction(txHash)),
  };
};
