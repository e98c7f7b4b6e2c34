/** How new deliveries get into the ledger: those of a page in a few scripts. Deliveries that are known stay as they are. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination, Parcel } from '../alert.ts';
import { chunksOf, packed } from '../chunks.ts';
import { COLLECT } from './collect.ts';
import { encodeRecord, encodeSummary } from './encoding.ts';
import { ALERT_FIELD, type DeliveryRecord, type LedgerKeys, OPEN_FIELD } from './record.ts';
import { transactionMember } from './transactions.ts';

/** New deliveries in one script: the same, and Lua cannot hand more than some 8,000 values to a command. */
const DELIVERIES = 1000;

/**
 * KEYS: the index, the transactions, the counts; then by alert itself and the track's open alerts. ARGV: how many
 * destinations, their ids and records; then by alert its id, its date, what it is about, its member of the transactions or
 * '', how many destinations, and which. Deliveries that are known stay as they are.
 */
const RECORD_WAITING = `${COLLECT}
local sorted, opened, counts, alerts = {}, {}, {}, {}
for i = 4, #KEYS, 2 do alerts[#alerts + 1] = KEYS[i] end
local areNew = redis.call('EXISTS', unpack(alerts)) == 0
local at = 2 + 2 * ARGV[1]
for n, alert in ipairs(alerts) do
  local id, date, about, member, ids = ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], {}
  for i = at + 5, at + 4 + ARGV[at + 4] do ids[#ids + 1] = ARGV[2 * ARGV[i]] end
  local known = areNew and {} or redis.call('HMGET', alert, '${ALERT_FIELD}', '${OPEN_FIELD}', unpack(ids))
  local fields = {}
  for i, destination in ipairs(ids) do
    if not known[i + 2] then
      fields[#fields + 1] = destination
      fields[#fields + 1] = ARGV[2 * ARGV[at + 4 + i] + 1]
      counts[destination] = (counts[destination] or 0) + 1
    end
  end
  local added = #fields / 2
  if added > 0 then
    if not known[1] then fields[#fields + 1] = '${ALERT_FIELD}'; fields[#fields + 1] = about end
    if known[2] then fields[#fields + 1] = '${OPEN_FIELD}'; fields[#fields + 1] = known[2] + added end
    redis.call('HSET', alert, unpack(fields))
    if not areNew then redis.call('PERSIST', alert) end
    add(opened, KEYS[3 + 2 * n], date, id)
  end
  add(sorted, KEYS[1], date, id)
  if member ~= '' then add(sorted, KEYS[2], 0, member) end
  at = at + 5 + ARGV[at + 4]
end
flush('ZADD', sorted)
flush('ZADD', opened)
for destination, count in pairs(counts) do redis.call('HINCRBY', KEYS[3], destination, count) end
return 1`;

/** Some deliveries of one alert. */
interface Entry {
  alert: Alert;
  destinations: readonly Destination['id'][];
}

/** Each alert once, or in parts where very many destinations get it. */
const entriesOf = (parcels: readonly Parcel[]): Entry[] => {
  const byAlert = new Map<Alert['id'], { alert: Alert; destinations: Set<Destination['id']> }>();
  for (const { destination, alerts } of parcels) {
    for (const alert of alerts) {
      const known = byAlert.get(alert.id) ?? { alert, destinations: new Set() };
      byAlert.set(alert.id, known);
      known.destinations.add(destination.id);
    }
  }
  return [...byAlert.values()].flatMap(({ alert, destinations }) =>
    chunksOf([...destinations], DELIVERIES).map((part) => ({ alert, destinations: part })),
  );
};

/** `records`: by destination. One script after the other, as thousands of deliveries made ready in one go block others. */
export const recordWaiting = async (
  redis: Redis | Cluster,
  keys: LedgerKeys,
  parcels: readonly Parcel[],
  records: ReadonlyMap<Destination['id'], DeliveryRecord>,
): Promise<void> => {
  const written = new Map([...records].map(([id, record]) => [id, encodeRecord(record)]));
  for (const entries of packed(entriesOf(parcels), DELIVERIES, ({ destinations }) => destinations.length)) {
    const ids = [...new Set(entries.flatMap(({ destinations }) => destinations))];
    const places = new Map(ids.map((id, index) => [id, index + 1]));
    const own = [keys.index, keys.transactions, keys.waiting];
    const args: (string | number)[] = [ids.length, ...ids.flatMap((id) => [id, written.get(id) ?? ''])];
    for (const { alert, destinations } of entries) {
      own.push(keys.alert(alert.id), keys.open(alert));
      args.push(alert.id, Date.parse(alert.at), encodeSummary(alert), transactionMember(alert) ?? '');
      args.push(destinations.length, ...destinations.map((id) => places.get(id) ?? 0));
    }
    await redis.eval(RECORD_WAITING, own.length, ...own, ...args);
  }
};
