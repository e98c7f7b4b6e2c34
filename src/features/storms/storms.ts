/** Storms: digests in a row at one destination. Each says how much of it there is, and an announcement says when it is over. */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../../alert.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { execute } from '../../redis/pipeline.ts';
import { countedInWords } from '../../text.ts';
import { clockText, iso, spanText } from '../../time.ts';
import { type Announce, TO_DO } from '../announcements/announce.ts';

/** So long without a digest, a storm is over. Digests rest at most ten seconds, and a minute's limit of rate a minute. */
export const QUIET_MS = 120_000;

/** What a daemon that ends in the middle of it leaves behind ends by itself. */
const KEPT_MS = 24 * 3_600_000;

interface StormSoFar {
  messages: number;
  alerts: number;
}

interface EndedStorm extends StormSoFar {
  destination: Destination;
  /** Epoch milliseconds of its first and its last digest. */
  from: number;
  until: number;
}

type Storms = ReturnType<typeof createStorms>;

const AT_ONCE = 100;
const FIELDS = ['messages', 'alerts', 'from', 'destination', 'waits'] as const;

/** The storms of all daemons, in Redis. `now`: epoch milliseconds. */
export const createStorms = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const latest = `${prefix}:storms`;
  const keyOf = (id: string): string => `${prefix}:storm:${id}`;
  const read = (id: string) => redis.hmget(keyOf(id), ...FIELDS);

  const endedOf = async (id: string, until: number): Promise<EndedStorm | undefined> => {
    const [messages, alerts, from, destination] = await read(id);
    if (!destination) return undefined;
    const counted = { messages: Number(messages), alerts: Number(alerts), from: Number(from), until };
    return { destination: JSON.parse(destination) as Destination, ...counted };
  };

  return {
    /** The digests in a row before this one. */
    soFar: async ({ id }: Pick<Destination, 'id'>): Promise<StormSoFar> => {
      const [last, [messages, alerts, , , waits]] = await Promise.all([redis.zscore(latest, id), read(id)]);
      const isOver = last === null || (waits === null && now() - Number(last) > QUIET_MS);
      return isOver ? { messages: 0, alerts: 0 } : { messages: Number(messages), alerts: Number(alerts) };
    },
    noteDigest: async (destination: Destination, alerts: number): Promise<void> => {
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
    /** Storms without a digest for `QUIET_MS`, the oldest first; at most a hundred. */
    quiet: async (): Promise<EndedStorm[]> => {
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
    /** Nothing was sent for a while, but alerts wait: the next digest goes on with this storm. */
    noteWaiting: async ({ id }: Pick<Destination, 'id'>): Promise<void> => {
      const key = keyOf(id);
      // It may have expired, or been forgotten, in this moment.
      await execute(redis.multi().hset(key, 'waits', 1).pexpire(key, KEPT_MS));
    },
    forget: async ({ id }: Pick<Destination, 'id'>): Promise<void> => {
      await execute(redis.multi().zrem(latest, id).del(keyOf(id)));
    },
  };
};

interface StormEndDependencies {
  storms: Pick<Storms, 'quiet' | 'noteWaiting' | 'forget'>;
  ledger: Pick<Ledger, 'waitingByDestination'>;
  announce: Announce;
  isOpen(): Promise<(destination: Destination) => boolean>;
  isConfigured(destination: Destination): boolean;
  now(): number;
}

/** `Alerts come one by one again: 2,160 came in four messages.`, and from when to when. */
export const stormOverText = ({ messages, alerts, from, until }: EndedStorm): string =>
  [
    `Alerts come one by one again: ${alerts.toLocaleString('en')} came in ${countedInWords(messages, 'message')}.`,
    `From ${spanText(clockText(from), clockText(until))}. This does not mean that an attack is over.`,
    `${TO_DO}go through the messages above: they list all of them, the worst first.`,
  ].join('\n');

/**
 * When a destination had several digests and then none for a while, it hears that the last was the last. One digest alone was
 * no storm, and while alerts wait there, in a batch or for another try, the storm is not over.
 */
export const createStormEnd = ({ storms, ledger, announce, isOpen, isConfigured, now }: StormEndDependencies) => {
  const end = async (storm: EndedStorm, mayHear: boolean): Promise<void> => {
    const { destination, messages, from } = storm;
    const key = `${destination.id} ${iso(from)}`;
    if (messages > 1 && mayHear)
      await announce({ about: 'storm.over', key, message: stormOverText(storm) }, now(), [destination]);
    await storms.forget(destination);
  };

  return async (): Promise<void> => {
    const quiet = await storms.quiet();
    if (quiet.length === 0) return;
    const waiting = await ledger.waitingByDestination();
    const mayBeSentTo = await isOpen();
    for (const storm of quiet) {
      const { destination } = storm;
      if ((waiting[destination.id] ?? 0) > 0) await storms.noteWaiting(destination);
      else await end(storm, isConfigured(destination) && mayBeSentTo(destination));
    }
  };
};
