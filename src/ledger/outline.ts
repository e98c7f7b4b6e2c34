/** Alerts in short, for lists: how many of an alert's deliveries ended how, and a few of them; there may be thousands. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert } from '../alert.ts';
import { execute } from '../redis/pipeline.ts';
import { IS_STATE, parseRecord, parseSummary } from './encoding.ts';
import {
  ALERT_FIELD,
  type AlertRecord,
  type DeliveryRecord,
  type DeliveryState,
  ledgerKeys,
  OPEN_FIELD,
} from './record.ts';

export interface AlertOutline {
  alert: AlertRecord['alert'];
  counts: Record<DeliveryState, number>;
  /** Some of them, those in trouble first. */
  deliveries: DeliveryRecord[];
}

/** In this order the deliveries of an alert are shown. */
const STATES: readonly DeliveryState[] = ['dead', 'waiting', 'delivered', 'muted'];

/** KEYS: an alert; ARGV: how many deliveries, and their states. Gives what the alert is about, counts, some deliveries. */
const OUTLINE = `${IS_STATE}
local fields, about, counts, some = redis.call('HGETALL', KEYS[1]), '', {}, {}
for s = 2, #ARGV do counts[s - 1] = 0; some[s - 1] = {} end
for f = 1, #fields, 2 do
  if fields[f] == '${ALERT_FIELD}' then about = fields[f + 1]
  elseif fields[f] ~= '${OPEN_FIELD}' then
    for s = 2, #ARGV do
      if isState(fields[f + 1], ARGV[s]) then
        local list = some[s - 1]
        counts[s - 1] = counts[s - 1] + 1
        if #list < 2 * ARGV[1] then list[#list + 1] = fields[f]; list[#list + 1] = fields[f + 1] end
      end
    end
  end
end
local shown = {}
for s = 1, #some do
  for i = 1, #some[s] do if #shown < 2 * ARGV[1] then shown[#shown + 1] = some[s][i] end end
end
return { about, counts, shown }`;

type Answer = [about: string, counts: number[], shown: string[]];

const outlineOf = (id: string, [about, counts, shown]: Answer): AlertOutline[] => {
  // Gone since it was found.
  if (about === '') return [];
  const deliveries: DeliveryRecord[] = [];
  for (let at = 0; at + 1 < shown.length; at += 2) deliveries.push(parseRecord(shown[at] ?? '', shown[at + 1] ?? ''));
  const byState = STATES.map((state, index) => [state, counts[index] ?? 0] as const);
  return [
    { alert: parseSummary(id, about), counts: Object.fromEntries(byState) as AlertOutline['counts'], deliveries },
  ];
};

export const createOutlines = (redis: Redis | Cluster, prefix: string) => {
  const keys = ledgerKeys(prefix);
  return {
    /** The latest alerts by date, newest first; at most `deliveries` of each. */
    latest: async (alerts: number, deliveries: number): Promise<AlertOutline[]> => {
      const ids: Alert['id'][] = await redis.zrevrange(keys.index, 0, alerts - 1);
      const batch = redis.pipeline();
      for (const id of ids) batch.eval(OUTLINE, 1, keys.alert(id), deliveries, ...STATES);
      const answers = (await execute(batch)) as Answer[];
      return ids.flatMap((id, index) => outlineOf(id, answers[index] ?? ['', [], []]));
    },
    /** How many alerts are dated in each of these spans, in epoch milliseconds; the end is excluded. */
    counts: async (spans: readonly { from: number; to: number }[]): Promise<number[]> => {
      const batch = redis.pipeline();
      for (const { from, to } of spans) batch.zcount(keys.index, from, `(${to}`);
      return (await execute(batch)) as number[];
    },
  };
};

export type Outlines = ReturnType<typeof createOutlines>;
