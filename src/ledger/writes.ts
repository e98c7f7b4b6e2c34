/**
 * How deliveries change in the ledger: many in one script. A change is made from what was read, and counts only if that is
 * still so; else it is made again.
 *
 * How long an alert is kept: until no delivery of it waits, or its counts would never be corrected, and some weeks after its
 * date; then `index-by-date.ts` removes it. One that is old already when it ends expires some weeks after that instead.
 */
import type { ChainableCommander, Cluster, Redis } from 'ioredis';
import type { Alert, Destination, Parcel } from '../alert.ts';
import { chunksOf, packed } from '../chunks.ts';
import { askEach } from '../redis/pipeline.ts';
import { encodeRecord, encodeSummary, IS_STATE, parseRecord } from './encoding.ts';
import {
  ALERT_FIELD,
  type DeliveryRecord,
  type LedgerKeys,
  RETENTION_SECONDS,
  type Target,
  TRIED,
  UNTRIED,
} from './record.ts';
import { transactionMember } from './transactions.ts';

/** Lua: lists and counts to be written at the end, one command or two a key. */
const COLLECT = `
local function add(lists, key, ...)
  local list = lists[key] or {}
  lists[key] = list
  for i = 1, select('#', ...) do list[#list + 1] = (select(i, ...)) end
end
local function flush(command, lists)
  for key, list in pairs(lists) do redis.call(command, key, unpack(list)) end
end
local function count(key, changes)
  local names, fields = {}, {}
  for name, change in pairs(changes) do if change ~= 0 then names[#names + 1] = name end end
  if #names == 1 then redis.call('HINCRBY', key, names[1], changes[names[1]]) end
  if #names < 2 then return end
  for i, before in ipairs(redis.call('HMGET', key, unpack(names))) do
    fields[2 * i - 1], fields[2 * i] = names[i], (before or 0) + changes[names[i]]
  end
  redis.call('HSET', key, unpack(fields))
end`;

/** New deliveries in one script: the same, and Lua cannot hand more than some 8,000 values to a command. */
const DELIVERIES = 1000;

/**
 * KEYS: the index, the transactions, the counts; then by alert itself and the track's open deliveries. ARGV: how many
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
  local known = areNew and {} or redis.call('HMGET', alert, '${ALERT_FIELD}', unpack(ids))
  local fields = {}
  for i, destination in ipairs(ids) do
    if not known[i + 1] then
      fields[#fields + 1] = destination
      fields[#fields + 1] = ARGV[2 * ARGV[at + 4 + i] + 1]
      add(opened, KEYS[3 + 2 * n], date, id .. ' ' .. destination)
      counts[destination] = (counts[destination] or 0) + 1
    end
  end
  if #fields > 0 then
    if not known[1] then fields[#fields + 1] = '${ALERT_FIELD}'; fields[#fields + 1] = about end
    redis.call('HSET', alert, unpack(fields))
    if not areNew then redis.call('PERSIST', alert) end
  end
  add(sorted, KEYS[1], date, id)
  if member ~= '' then add(sorted, KEYS[2], 0, member) end
  at = at + 5 + ARGV[at + 4]
end
flush('ZADD', sorted)
flush('ZADD', opened)
count(KEYS[3], counts)
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

/** Changes in one script: what it takes is over within a few milliseconds. */
const CHUNK = 100;

/** Changes that were made in vain, because others came between, before it is given up. */
const MOST_CONFLICTS = 100;

/** Lua: an alert's hash expires, unless one of its deliveries waits. */
export const CLOSE_ALERT = `${IS_STATE}
local function isOpen(alert)
  for _, text in ipairs(redis.call('HVALS', alert)) do if isState(text, 'waiting') then return true end end
  return false
end
local function closeAlert(alert)
  if not isOpen(alert) then redis.call('EXPIRE', alert, ${RETENTION_SECONDS}) end
end`;

/**
 * KEYS: the counts, then by delivery its alert and the track's open deliveries; ARGV: by delivery its destination, the
 * record that was read, '' or `UNTRIED`, the new one, the alert's id, whether the alert is kept for some weeks from its end
 * on: '' for one that goes with its date. Gives by delivery false where that was still so; else the record that is kept, ''
 * for none. Of untried deliveries that end the records are not read: each had its member among the open ones if as many
 * were removed there. Where fewer were, the records say which.
 */
const CHANGE = `${COLLECT}${CLOSE_ALERT}
local counts, closed, answers, ended, isDoubtful = {}, {}, {}, {}, {}
local function memberOf(at) return ARGV[at + 4] .. ' ' .. ARGV[at + 1] end
for i = 2, #KEYS, 2 do
  local at = (i - 2) / 2 * 5
  if ARGV[at + 2] == '${UNTRIED}' and not isState(ARGV[at + 3], 'waiting') then add(ended, KEYS[i + 1], memberOf(at)) end
end
for open, members in pairs(ended) do isDoubtful[open] = redis.call('ZREM', open, unpack(members)) < #members end
for i = 2, #KEYS, 2 do
  local alert, open, at = KEYS[i], KEYS[i + 1], (i - 2) / 2 * 5
  local destination, before, after, member = ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], memberOf(at)
  local waited, waits = isState(before, 'waiting'), isState(after, 'waiting')
  local date = waited and waits and redis.call('ZSCORE', open, member)
  local kept = before
  if before ~= '${UNTRIED}' or waits and not date or not waits and isDoubtful[open] then
    kept = redis.call('HGET', alert, destination) or ''
    local mayBeUntried = before == '${UNTRIED}' and not waits and isState(kept, 'waiting')
    if mayBeUntried and not redis.call('ZSCORE', open, member .. '${TRIED}') then kept = before end
  end
  answers[#answers + 1] = kept ~= before and kept
  if kept == before then
    redis.call('HSET', alert, destination, after)
    if waited ~= waits then counts[destination] = (counts[destination] or 0) + (waits and 1 or -1) end
    if waits and not waited then
      redis.call('PERSIST', alert)
    elseif waits then
      if date then redis.call('ZREM', open, member); redis.call('ZADD', open, date, member .. '${TRIED}') end
    else
      if waited and before ~= '${UNTRIED}' then add(closed, open, member, member .. '${TRIED}') end
      if ARGV[at + 5] ~= '' and (waited or before == '') then closeAlert(alert) end
    end
  end
end
flush('ZREM', closed)
count(KEYS[1], counts)
return answers`;

/** Records what the alert is about. The delivery that is recorded after it says how long it is kept, see `CLOSE_ALERT`. */
export const recordAlert = (batch: ChainableCommander, keys: LedgerKeys, alert: Alert): void => {
  batch.hsetnx(keys.alert(alert.id), ALERT_FIELD, encodeSummary(alert));
  batch.zadd(keys.index, Date.parse(alert.at), alert.id);
  const member = transactionMember(alert);
  if (member !== undefined) batch.zadd(keys.transactions, 0, member);
};

/** A delivery that is to be changed. */
export interface Change {
  destination: Target;
  alert: Alert;
  /** What is recorded next; undefined: it stays as it is. Called again where another change came between. */
  next(before: DeliveryRecord | undefined): DeliveryRecord | undefined;
}

interface Attempted {
  change: Change;
  /** As it was read last; undefined: it has to be read. */
  text: string | undefined;
  before?: DeliveryRecord | undefined;
}

const parsed = ({ change: { destination }, text }: Attempted): DeliveryRecord | undefined => {
  if (text === UNTRIED) return { state: 'waiting', destination, at: '', attempts: [] };
  return text === undefined || text === '' ? undefined : parseRecord(destination.id, text);
};

/** An alert that ends within this is kept by its date. */
const YOUNG_MS = 86_400_000;

export const createWrites = (redis: Redis | Cluster, keys: LedgerKeys, now: () => number) => {
  /** Of an alert that is old already, as in a replay, the date says nothing about how long it is of use. */
  const isOld = ({ at }: Alert): 1 | '' => (now() - Date.parse(at) < YOUNG_MS ? '' : 1);

  const readAll = async (attempted: readonly Attempted[]): Promise<void> => {
    const unread = attempted.filter(({ text }) => text === undefined);
    if (unread.length === 0) return;
    const found = await askEach(redis, unread, (batch, { change: { alert, destination } }) =>
      batch.hget(keys.alert(alert.id), destination.id),
    );
    for (const [index, one] of unread.entries()) one.text = String(found[index] ?? '');
  };

  /** Gives those that another change came between; they know what that one wrote. */
  const write = async (attempted: readonly Attempted[]): Promise<Attempted[]> => {
    const written: { one: Attempted; text: string }[] = [];
    for (const one of attempted) {
      one.before = parsed(one);
      const next = one.change.next(one.before);
      if (next === undefined) continue;
      written.push({ one, text: encodeRecord(next) });
    }
    // The others were recorded when they were queued.
    const unrecorded = written.filter(({ one }) => one.before === undefined);
    if (unrecorded.length > 0)
      await askEach(redis, unrecorded, (batch, { one }) => recordAlert(batch, keys, one.change.alert));
    const answers: (string | null)[] = [];
    for (const chunk of chunksOf(written, CHUNK)) {
      const own = [keys.waiting, ...chunk.flatMap(({ one: { change } }) => keysOf(change.alert))];
      const args = chunk.flatMap(({ one: { change, text: before = '' }, text }) => [
        ...[change.destination.id, before, text, change.alert.id, isOld(change.alert)],
      ]);
      // Alone, as a pipeline is made with a field for each of BullMQ's scripts, which takes longer than this command.
      answers.push(...((await redis.eval(CHANGE, own.length, ...own, ...args)) as (string | null)[]));
    }
    return written.flatMap(({ one, text }, index) => {
      const other = answers[index] ?? null;
      one.text = other ?? text;
      return other === null ? [] : [one];
    });
  };

  const keysOf = (alert: Alert): [string, string] => [keys.alert(alert.id), keys.open(alert)];

  /** `known`: what was read of them lately, as it stands in Redis. Gives what each was before its change, in order. */
  return async (
    changes: readonly Change[],
    known: (change: Change) => string | undefined = () => undefined,
  ): Promise<(DeliveryRecord | undefined)[]> => {
    const all: Attempted[] = changes.map((change) => ({ change, text: known(change) }));
    let left = all;
    for (let conflicts = 0; left.length > 0; conflicts += 1) {
      if (conflicts > MOST_CONFLICTS) throw new Error('others changed the same deliveries in the ledger all the time');
      await readAll(left);
      left = await write(left);
    }
    return all.map(({ before }) => before);
  };
};
