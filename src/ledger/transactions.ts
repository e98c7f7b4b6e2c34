/** Alerts by their transaction: one sorted set, in the order of its members, which begin with the transaction. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert } from '../alert.ts';
import { contentId } from '../item.ts';
import type { LedgerKeys } from './record.ts';

const HASH = /^0x[0-9a-f]{64}$/;
/** The first digits and the last ones mean hardly ever two transactions; who must be sure compares the alerts' own. */
const HEAD = 8;
const TAIL = 4;
const DIGITS = HEAD + TAIL;
const CHUNK = 500;

const beginningOf = (txHash: string): string => {
  const hash = txHash.toLowerCase();
  return HASH.test(hash) ? hash.slice(2, 2 + HEAD) + hash.slice(-TAIL) : contentId(hash).slice(0, DIGITS);
};

/** Members that begin so. */
const rangeOf = (beginning: string) => [`[${beginning}`, `(${beginning}~`, 'BYLEX'] as const;

const idsOf = async (members: Promise<string[]>): Promise<string[]> =>
  (await members).map((member) => member.slice(DIGITS));

/** Undefined for an alert that names no transaction. */
export const transactionMember = ({ id, txHash }: Pick<Alert, 'id' | 'txHash'>): string | undefined =>
  txHash === undefined ? undefined : `${beginningOf(txHash)}${id}`;

/** KEYS: the transactions, then alerts; ARGV: the members of these. Removes those whose alert is gone. */
const DROP_GONE = `
local gone = {}
for i, member in ipairs(ARGV) do
  if redis.call('EXISTS', KEYS[i + 1]) == 0 then gone[#gone + 1] = member end
end
if #gone > 0 then redis.call('ZREM', KEYS[1], unpack(gone)) end
return #gone`;

export const createTransactions = (redis: Redis | Cluster, keys: LedgerKeys) => ({
  /** Ids of the alerts that name a transaction. */
  alertsOf: (txHash: string): Promise<string[]> =>
    idsOf(redis.zrange(keys.transactions, ...rangeOf(beginningOf(txHash)))),
  /** Ids of alerts whose transaction begins so, at most so many; of a longer beginning only the first digits count. */
  beginningWith: (digits: string, most: number): Promise<string[]> => {
    const range = rangeOf(digits.toLowerCase().slice(0, HEAD));
    return idsOf(redis.zrange(keys.transactions, ...range, 'LIMIT', 0, most));
  },
  /** Reads all of it. Only for after a stop of weeks, when alerts have expired whose transaction nobody knows. */
  dropGone: async (): Promise<void> => {
    for (let last: string | undefined; ; ) {
      const after = last === undefined ? '-' : `(${last}`;
      const members = await redis.zrange(keys.transactions, after, '+', 'BYLEX', 'LIMIT', 0, CHUNK);
      last = members.at(-1);
      if (last === undefined) return;
      const alerts = members.map((member) => keys.alert(member.slice(DIGITS)));
      await redis.eval(DROP_GONE, 1 + alerts.length, keys.transactions, ...alerts, ...members);
    }
  },
});
