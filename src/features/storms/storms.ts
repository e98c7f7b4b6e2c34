/** Storms of alerts at a destination: what is known of them, and what is said when one is over. */
import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Destination } from '../../alert.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { execute } from '../../redis/pipeline.ts';
import { countedInWords } from '../../text.ts';
import { clockText, iso, spanText } from '../../time.ts';
import type { Announce } from '../announcements/announce.ts';

// Storms: digests in a row at one destination, so that each says how much of it there is, and somebody says when it is over.

/** So long without a digest, a storm is over. Digests rest at most ten seconds, and a minute's limit of rate a minute. */
export const QUIET_MS = 120_000;

/** What a daemon that ends in the middle of it leaves behind ends by itself. */
const KEPT_MS = 24 * 3_600_000;

export interface StormSoFar {
  messages: number;
  alerts: number;
}

interface EndedStorm extends StormSoFar {
  destination: Destination;
  /** Epoch milliseconds of its first and its last digest. */
  from: number;
  until: number;
}

interface Storms {
  /** The digests in a row before this one. */
  soFar(destination: Pick<Destination, 'id'>): Promise<StormSoFar>;
  /** A digest of so many alerts was delivered. */
  noteDigest(destination: Destination, alerts: number): Promise<void>;
  /** Storms without a digest for `QUIET_MS`, the oldest first; at most a hundred. */
  quiet(): Promise<EndedStorm[]>;
  /** Nothing was sent for a while, but alerts wait: the next digest goes on with this storm. */
  noteWaiting(destination: Pick<Destination, 'id'>): Promise<void>;
  forget(destination: Pick<Destination, 'id'>): Promise<void>;
}

const AT_ONCE = 100;

/** In the order of `FIELDS`. */
type Fields = [
  messages: string | null,
  alerts: string | null,
  from: string | null,
  destination: string | null,
  waits: string | null,
];

const FIELDS = ['messages', 'alerts', 'from', 'destination', 'waits'] as const;

/** The storms of all daemons, in Redis. `now`: epoch milliseconds. */
export const createStorms = (redis: Redis | Cluster, prefix: string, now: () => number): Storms => {
  const latest = `${prefix}:storms`;
  const keyOf = (id: string): string => `${prefix}:storm:${id}`;
  const read = (id: string) => redis.hmget(keyOf(id), ...FIELDS) as Promise<Fields>;

  const endedOf = async (id: string, until: number): Promise<EndedStorm | undefined> => {
    const [messages, alerts, from, destination] = await read(id);
    return destination === null
      ? undefined
      : {
          destination: JSON.parse(destination) as Destination,
          ...{ messages: Number(messages), alerts: Number(alerts), from: Number(from), until },
        };
  };

  return {
    soFar: async ({ id }) => {
      const [last, [messages, alerts, , , waits]] = await Promise.all([redis.zscore(latest, id), read(id)]);
      const isOver = last === null || (waits === null && now() - Number(last) > QUIET_MS);
      return isOver ? { messages: 0, alerts: 0 } : { messages: Number(messages), alerts: Number(alerts) };
    },
    noteDigest: async (destination, alerts) => {
      const { id } = destination;
      const key = keyOf(id);
      await execute(
        redis
          .multi()
          .hincrby(key, 'messages', 1)
          .hincrby(key, 'alerts', alerts)
          .hsetnx(key, 'from', now())
          .hset(key, 'destination', JSON.stringify(destination))
          .hdel(key, 'waits')
          .pexpire(key, KEPT_MS)
          .zadd(latest, now(), id)
          .pexpire(latest, KEPT_MS),
      );
    },
    quiet: async () => {
      const found = await redis.zrangebyscore(latest, '-inf', now() - QUIET_MS, 'WITHSCORES', 'LIMIT', 0, AT_ONCE);
      const ended: EndedStorm[] = [];
      for (let index = 0; index < found.length; index += 2) {
        const [id = '', score = ''] = found.slice(index, index + 2);
        const storm = await endedOf(id, Number(score));
        if (storm === undefined) await redis.zrem(latest, id);
        else ended.push(storm);
      }
      return ended;
    },
    noteWaiting: async ({ id }) => {
      const key = keyOf(id);
      // It may have expired, or been forgotten, in this moment.
      await execute(redis.multi().hset(key, 'waits', 1).pexpire(key, KEPT_MS));
    },
    forget: async ({ id }) => {
      await execute(redis.multi().zrem(latest, id).del(keyOf(id)));
    },
  };
};

// Ends storms: when a destination had several digests and then none for a while, it hears that the last was the last.

export interface StormEndDependencies {
  storms: Pick<Storms, 'quiet' | 'noteWaiting' | 'forget'>;
  ledger: Pick<Ledger, 'waitingByDestination'>;
  announce: Announce;
  /** Whether a destination may be sent to: it is approved, or needs no approval. */
  isOpen(): Promise<(destination: Destination) => boolean>;
  /** Its kind can be sent to. */
  isConfigured(destination: Destination): boolean;
  log: Pick<Logger, 'error'>;
  now(): number;
}

/** `The storm is over: 2,160 alerts came in four messages.`, and from when to when. */
export const stormOverText = ({ messages, alerts, from, until }: EndedStorm): string =>
  [
    `The storm is over: ${alerts.toLocaleString('en')} alerts came in ${countedInWords(messages, 'message')}.`,
    `From ${spanText(clockText(from), clockText(until))}. Nothing waits here now; the next alerts come one by one again.`,
  ].join('\n');

/** One digest alone was no storm. While alerts wait there, in a batch or for another try, the storm is not over. */
const end = async (
  storm: EndedStorm,
  { waiting, mayHear }: { waiting: number; mayHear: boolean },
  dependencies: StormEndDependencies,
): Promise<void> => {
  const { storms, announce, now } = dependencies;
  const { destination, messages, from } = storm;
  if (waiting > 0) return storms.noteWaiting(destination);
  const key = `${destination.id} ${iso(from)}`;
  if (messages > 1 && mayHear)
    await announce({ about: 'storm.over', key, message: stormOverText(storm) }, now(), [destination]);
  await storms.forget(destination);
};

/** Never throws: it is called again in a few seconds. */
export const createStormEnd = (dependencies: StormEndDependencies) => async (): Promise<void> => {
  const { storms, ledger, isOpen, isConfigured, log } = dependencies;
  try {
    const quiet = await storms.quiet();
    if (quiet.length === 0) return;
    const waiting = await ledger.waitingByDestination();
    const mayBeSentTo = await isOpen();
    for (const storm of quiet) {
      const { destination } = storm;
      const mayHear = isConfigured(destination) && mayBeSentTo(destination);
      await end(storm, { waiting: waiting[destination.id] ?? 0, mayHear }, dependencies);
    }
  } catch (error) {
    log.error({ err: error }, 'ending storms failed; trying again');
  }
};
