/** What providers call destinations: names of channels, titles of chats. Looked up once a day, for people to read. */
import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Destination } from '../../alert.ts';
import type { Channel } from '../../channels/channel.ts';
import { DeliveryError, isPassing } from '../../errors.ts';
import type { Target } from '../../ledger/record.ts';
import { recordsIn } from '../../redis/pipeline.ts';
import { cleanLine, shorten } from '../../text.ts';

/** By destination id. */
export type Names = ReadonlyMap<string, string>;

export const NO_NAMES: Names = new Map();

/** The same with what its provider calls it, where that is known. */
export const withName = <T extends Pick<Target, 'id'>>(one: T, names: Names): T & Pick<Target, 'name'> => {
  const name = names.get(one.id);
  return name === undefined ? one : { ...one, name };
};

interface Remembered {
  /** Absent where the provider does not say. */
  name?: string;
  /** Epoch milliseconds of the look-up. */
  at: number;
}

export type NameStore = ReturnType<typeof createNameStore>;

const LOOKED_UP_EVERY_MS = 24 * 3_600_000;

/** A destination that nothing leads to is forgotten at last, and so is everything of a daemon that is gone. */
const KEPT_SECONDS = 35 * 24 * 3600;
const MOST_NAMES = 5000;

/** In one hash of Redis, of at most 5,000 names. `now`: epoch milliseconds. */
export const createNameStore = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const key = `${prefix}:names`;

  const read = async (): Promise<Map<string, Remembered>> => recordsIn(await redis.hgetall(key));

  return {
    /** By destination id: one command, for a whole display. Destinations without a name are left out. */
    all: async (): Promise<Names> =>
      new Map([...(await read())].flatMap(([id, { name }]) => (name === undefined ? [] : [[id, name] as const]))),
    /** Those of `ids` that were not looked up lately; where there are too many, all others are forgotten. */
    due: async (ids: readonly Destination['id'][]): Promise<Destination['id'][]> => {
      const known = await read();
      const isDue = (id: string): boolean =>
        now() - (known.get(id)?.at ?? Number.NEGATIVE_INFINITY) > LOOKED_UP_EVERY_MS;
      const wanted = new Set(ids);
      const gone = [...known.keys()].filter((id) => !wanted.has(id));
      if (known.size >= MOST_NAMES && gone.length > 0) await redis.hdel(key, ...gone);
      const isFull = known.size - gone.length >= MOST_NAMES;
      return ids.filter((id) => isDue(id) && (known.has(id) || !isFull));
    },
    /** `name` is undefined where the provider does not say: that is remembered, too. */
    note: async (id: Destination['id'], name: string | undefined): Promise<void> => {
      const remembered: Remembered = { ...(name === undefined ? {} : { name }), at: now() };
      await redis.multi().hset(key, id, JSON.stringify(remembered)).expire(key, KEPT_SECONDS).exec();
    },
  };
};

interface LookUpDependencies {
  names: Pick<NameStore, 'due' | 'note'>;
  channels: readonly Pick<Channel, 'kind' | 'nameOf'>[];
  /** Where alerts go now. */
  destinations(): readonly Destination[];
  log: Pick<Logger, 'info'>;
}

/** In one round; a provider's limits are for messages. */
const MOST_AT_ONCE = 10;
const TIMEOUT_MS = 10_000;
const NAME_LIMIT = 80;

/** The token may not ask: one line says so, not one for each destination. */
const NOT_ALLOWED = 'missing_scope';

/** As it is shown: one short line. */
const shownName = (name: string | undefined): string | undefined =>
  name === undefined ? undefined : shorten(cleanLine(name), NAME_LIMIT) || undefined;

/**
 * Gives one round of asking the providers what they call the destinations that alerts are routed to: at most ten names, each
 * within ten seconds and once a day.
 */
export const createNameLookUp = ({ names, channels, destinations, log }: LookUpDependencies) => {
  const refused = new Set<string>();
  /** Those that had no answer in the last rounds: others are asked for first, or one would hold up its whole kind. */
  let unanswered = new Set<Destination['id']>();

  /** False where the provider cannot be asked now. */
  const lookUp = async (
    { id, kind, address }: Destination,
    nameOf: NonNullable<Channel['nameOf']>,
    signal: AbortSignal,
  ): Promise<boolean> => {
    let name: string | undefined;
    unanswered.delete(id);
    try {
      name = await nameOf(address, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    } catch (error) {
      // It says nothing about the name, which is asked for again soon. After any other answer it has none for a day.
      if (isPassing(error) || signal.aborted) {
        unanswered.add(id);
        return false;
      }
      if (error instanceof DeliveryError && error.code === NOT_ALLOWED && !refused.has(kind)) {
        refused.add(kind);
        const what = 'names of destinations are not shown: the token may not ask for them';
        log.info({ kind, message: error.message }, what);
      }
    }
    await names.note(id, shownName(name));
    return true;
  };

  /** One round. Throws where Redis fails. */
  return async (signal: AbortSignal): Promise<void> => {
    const asking = new Map(channels.flatMap(({ kind, nameOf }) => (nameOf ? [[kind, nameOf] as const] : [])));
    const routed = new Map(destinations().flatMap((one) => (asking.has(one.kind) ? [[one.id, one] as const] : [])));
    if (routed.size === 0) return;
    const silent = new Set<string>();
    unanswered = new Set([...unanswered].filter((id) => routed.has(id)));
    const first = [...routed.keys()].filter((id) => !unanswered.has(id));
    for (const id of (await names.due([...first, ...unanswered])).slice(0, MOST_AT_ONCE)) {
      const one = routed.get(id);
      const nameOf = one && asking.get(one.kind);
      if (signal.aborted || !one || !nameOf || silent.has(one.kind)) continue;
      if (!(await lookUp(one, nameOf, signal))) silent.add(one.kind);
    }
  };
};
