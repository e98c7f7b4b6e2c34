/** What is remembered of each protocol's settings, over all daemons, and which changes of them were seen. */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import { chunksOf } from '../../chunks.ts';
import { MOST_PROTOCOLS } from '../../item.ts';
import { fenced, type HeldLock } from '../../redis/lock.ts';
import { execute, recordsIn } from '../../redis/pipeline.ts';
import { DAY_MS, iso } from '../../time.ts';
import type { Comparison, Remembered } from './changes.ts';
import type { ChangeWords } from './message.ts';
import type { Unannounced } from './unannounced.ts';

/** A change as it is kept for `protocols history`. */
export interface SeenChange extends Pick<ChangeWords, 'kind' | 'differences' | 'isCritical'> {
  at: string;
}

interface RememberInput {
  /** As it was read; '' where nothing was. */
  version: string;
  writes: Comparison['writes'];
  /** Of the protocols of `writes`: what is unannounced of them; of those that are left out nothing is. */
  unannounced?: ReadonlyMap<string, Unannounced>;
  seen: ReadonlyMap<string, SeenChange>;
}

/**
 * Of one protocol, and for how long. Of a service `ofAll` are kept at most: where many protocols change, each has fewer, but
 * `least`. Else a service that changes all it lists again and again would fill the Redis that holds the queue.
 */
export const HISTORY_BOUNDS = { changes: 200, days: 365, ofAll: 20_000, least: 3 } as const;
const KEEP_MS = HISTORY_BOUNDS.days * DAY_MS;
/** Protocols that one script writes. */
const AT_ONCE = 200;
const PROTOCOL = 'p:';
const UNANNOUNCED = 'u:';

/**
 * KEYS: what is remembered, the protocols with a history, the history of each. ARGV: version as read, version to be, now,
 * `since`, oldest to keep, how long, how many changes, how many of all, how many at least; then of each its name, what to
 * remember or '', what is unannounced or '', and its change or ''.
 */
const REMEMBER = fenced(`
if (redis.call('HGET', keys[1], 'version') or '') ~= args[1] then return 'changed' end
for i = 3, #keys do
  local at = 10 + 4 * (i - 3)
  local name, next, unannounced, seen = args[at], args[at + 1], args[at + 2], args[at + 3]
  if next == '' then redis.call('HDEL', keys[1], '${PROTOCOL}' .. name)
  else redis.call('HSET', keys[1], '${PROTOCOL}' .. name, next) end
  if unannounced == '' then redis.call('HDEL', keys[1], '${UNANNOUNCED}' .. name)
  else redis.call('HSET', keys[1], '${UNANNOUNCED}' .. name, unannounced) end
  if seen ~= '' then
    redis.call('ZADD', keys[2], args[3], name)
    redis.call('ZREMRANGEBYSCORE', keys[2], '-inf', args[5])
    redis.call('PEXPIRE', keys[2], args[6])
    local share = math.floor(args[8] / redis.call('ZCARD', keys[2]))
    local most = math.max(tonumber(args[9]), math.min(tonumber(args[7]), share))
    redis.call('ZADD', keys[i], args[3], seen)
    redis.call('ZREMRANGEBYSCORE', keys[i], '-inf', args[5])
    redis.call('ZREMRANGEBYRANK', keys[i], 0, -(most + 2))
    redis.call('PEXPIRE', keys[i], args[6])
  end
end
redis.call('HSET', keys[1], 'version', args[2])
if args[4] ~= '' then redis.call('HSETNX', keys[1], 'since', args[4]) end
return 'written'`);

export const createTripwireStore = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const keyOf = (service: string): string => `${prefix}:tripwire:${service}`;
  const indexOf = (service: string): string => `${prefix}:changed:${service}`;
  const historyOf = (service: string, protocol: string): string =>
    `${prefix}:changes:${JSON.stringify([service, protocol])}`;

  /** Names come from the service: those that it had once must not stay for a year. */
  const forgetOldest = async (service: string): Promise<void> => {
    const names = await redis.zrange(indexOf(service), 0, `${-(MOST_PROTOCOLS + 1)}`);
    for (const chunk of chunksOf(names, AT_ONCE)) {
      const histories = chunk.map((name) => historyOf(service, name));
      const batch = redis.pipeline().del(...histories);
      await execute(batch.zrem(indexOf(service), ...chunk));
    }
  };

  return {
    /** Of what is remembered; '' where nothing is. */
    version: async (service: string): Promise<string> => (await redis.hget(keyOf(service), 'version')) ?? '',
    /** Undefined before the first listing. What is unannounced may be of other protocols than these. */
    read: async (service: string) => {
      const { version = '', since, ...fields } = await redis.hgetall(keyOf(service));
      // Without it, a first listing was not written to its end.
      if (since === undefined) return undefined;
      const protocols = recordsIn<Remembered>(fields, PROTOCOL);
      return { version, protocols, unannounced: recordsIn<Unannounced>(fields, UNANNOUNCED) };
    },
    /** Gives the next version. Undefined where another daemon has written meanwhile: then nothing more is written. */
    remember: async (
      held: Pick<HeldLock, 'write'>,
      service: string,
      { version, writes, unannounced, seen }: RememberInput,
    ): Promise<string | undefined> => {
      const at = now();
      const { changes, ofAll, least } = HISTORY_BOUNDS;
      const chunks = writes.size === 0 ? [[]] : chunksOf([...writes], AT_ONCE);
      let known = version;
      for (const [index, chunk] of chunks.entries()) {
        const next = randomUUID();
        const since = index === chunks.length - 1 ? iso(at) : '';
        const keys = [keyOf(service), indexOf(service), ...chunk.map(([name]) => historyOf(service, name))];
        const facts = [known, next, at, since, at - KEEP_MS, KEEP_MS, changes, ofAll, least];
        const rows = chunk.flatMap(([name, remembered]) => {
          const values = [remembered, unannounced?.get(name), seen.get(name)];
          return [name, ...values.map((one) => (one === undefined ? '' : JSON.stringify(one)))];
        });
        if ((await held.write(REMEMBER, keys, [...facts, ...rows])) !== 'written') return undefined;
        known = next;
      }
      if (seen.size > 0) await forgetOldest(service);
      return known;
    },
    /** The newest first. `isCut`: there were more; only the newest are kept. */
    history: async (service: string, protocol: string) => {
      const key = historyOf(service, protocol);
      const { changes, ofAll, least } = HISTORY_BOUNDS;
      const share = Math.floor(ofAll / Math.max(1, await redis.zcard(indexOf(service))));
      const most = Math.max(least, Math.min(changes, share));
      const found = await redis.zrevrange(key, 0, most);
      const kept = found.slice(0, most).map((json) => JSON.parse(json) as SeenChange);
      return { changes: kept, isCut: found.length > most };
    },
    /** Protocols that have a history. */
    changed: (service: string): Promise<string[]> => redis.zrevrange(indexOf(service), 0, -1),
    /** ISO 8601: since when changes are seen. */
    since: async (service: string): Promise<string | undefined> =>
      (await redis.hget(keyOf(service), 'since')) ?? undefined,
  };
};

export type TripwireStore = ReturnType<typeof createTripwireStore>;
