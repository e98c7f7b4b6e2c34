/** What operators change in the ledger. An ordinary delivery never comes here. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert } from '../alert.ts';
import { execute } from '../redis/pipeline.ts';
import { iso } from '../time.ts';
import {
  type Act,
  CLOSE_ALERT,
  type DeliveryRecord,
  type DeliveryState,
  lastFew,
  ledgerKeys,
  NO_DESTINATION,
  OPEN_ALERT,
  parseRecord,
  recordAlert,
  type Target,
  targetOf,
} from './record.ts';

export interface Corrections {
  /**
   * Makes ended deliveries wait again: dead ones for `retried`, all for `replayed`. Gives, in the order of `alerts`, the
   * state that each was found in; undefined where the ledger did not know it, which reopens it as well.
   */
  reopen(target: Target, alerts: readonly Alert[], act: 'retried' | 'replayed'): Promise<(DeliveryState | undefined)[]>;
  /** Records that an operator gave up dead deliveries; they stay dead. Gives the states they were found in. */
  drop(target: Target, alerts: readonly Alert[]): Promise<(DeliveryState | undefined)[]>;
  /** Removes the record that an alert had no destination, once it has one. */
  clearUnroutable(alerts: readonly Alert[]): Promise<void>;
}

/**
 * KEYS: the alert, the counts; ARGV: destination, record, states it may be in, whether it is reopened. Not added to the
 * track's open alerts: an alert sent again by hand must not hold back the cursor backup, or a loss of Redis would send
 * everything since that alert again.
 */
const AMEND = `${OPEN_ALERT}${CLOSE_ALERT}
local old = redis.call('HGET', KEYS[1], ARGV[1])
local state = old and cjson.decode(old).state or ''
if old and not string.find(ARGV[3], state, 1, true) then return state end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
if ARGV[4] == '1' then
  redis.call('HINCRBY', KEYS[2], ARGV[1], 1)
  openAlert(KEYS[1])
elseif state == '' then
  closeAlert(KEYS[1])
end
return state`;

const FROM = { retried: 'dead', replayed: 'dead delivered muted', dropped: 'dead' } as const;
type Amendment = keyof typeof FROM;

export const createCorrections = (redis: Redis | Cluster, prefix: string, now: () => number): Corrections => {
  const keys = ledgerKeys(prefix);

  const amended = (before: DeliveryRecord | undefined, target: Target, act: Act): DeliveryRecord => ({
    attempts: [],
    ...before,
    state: act.act === 'dropped' ? 'dead' : 'waiting',
    destination: targetOf(target),
    at: act.at,
    acts: lastFew([...(before?.acts ?? []), act]),
  });

  const amend = async (target: Target, alerts: readonly Alert[], act: Amendment) => {
    const known = await Promise.all(alerts.map(({ id }) => redis.hget(keys.alert(id), target.id)));
    const done: Act = { at: iso(now()), act };
    const opens = act === 'dropped' ? '0' : '1';
    const noted = redis.pipeline();
    const batch = redis.pipeline();
    alerts.forEach((alert, index) => {
      recordAlert(noted, keys, alert);
      const record = JSON.stringify(amended(parseRecord(known[index]), target, done));
      batch.eval(AMEND, 2, keys.alert(alert.id), keys.waiting, target.id, record, FROM[act], opens);
    });
    await execute(noted);
    return (await execute(batch)).map((state) => (state === '' ? undefined : (state as DeliveryState)));
  };

  return {
    reopen: amend,
    drop: (target, alerts) => amend(target, alerts, 'dropped'),
    clearUnroutable: async (alerts) => {
      const batch = redis.pipeline();
      for (const { id } of alerts) batch.hdel(keys.alert(id), NO_DESTINATION.id);
      await execute(batch);
    },
  };
};
