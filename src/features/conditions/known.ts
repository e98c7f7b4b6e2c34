/** Standing remarks that somebody knows of: each with an author, a reason and an end. They are shown, and count nothing. */
import type { Cluster, Redis } from 'ioredis';
import { type Acceptance, type Condition, rowOf } from '../../condition.ts';
import { UsageError } from '../../errors.ts';
import { contentId } from '../../item.ts';
import { execute } from '../../redis/pipeline.ts';
import { formatDuration, parseDuration } from '../../schema/fields.ts';
import { cleanLine, shorten } from '../../text.ts';
import { DAY_MS, iso, parseDateTime } from '../../time.ts';

export interface KnownRemark extends Acceptance {
  /** `remark-1a2b3c4d` */
  id: string;
  /** What the remark says, in short. */
  what: string;
  /** Of all that it says: another text is another remark. */
  print: string;
}

const ID_DIGITS = 8;

const printOf = ({ name, of, what, why = '' }: Condition): string => contentId(name, of, what, why);

/** By which people name a remark; undefined of what nobody may mark as known. */
export const remarkId = (one: Condition): string | undefined =>
  rowOf(one.name).mayBeKnown === true ? `remark-${printOf(one).slice(0, ID_DIGITS)}` : undefined;

/** Gives who knows of a condition. */
export const acceptanceBy = (known: readonly KnownRemark[]) => {
  const byPrint = new Map(
    known.map(({ print, reason, author, from, until }) => [print, { reason, author, from, until }]),
  );
  return (one: Condition): Acceptance | undefined =>
    byPrint.size === 0 || remarkId(one) === undefined ? undefined : byPrint.get(printOf(one));
};

/** As much of a remark as is kept for lists, of a reason and of a name. */
const LONGEST = { what: 300, reason: 300, author: 100 };
export const KNOWN_FOR = { usual: '30d', mostMs: 365 * DAY_MS };

const cut = (text: string, field: keyof typeof LONGEST): string => shorten(cleanLine(text).trim(), LONGEST[field]);

/** `until`: a duration from now, a date or a date-time. `named`: what somebody calls a field. Throws a `UsageError`. */
export const newKnown = (
  one: Condition,
  wanted: Pick<Acceptance, 'reason' | 'author' | 'until'>,
  now: number,
  named: (field: string) => string = (field) => field,
): KnownRemark => {
  const id = remarkId(one);
  if (id === undefined) throw new UsageError('only a standing remark can be marked as known');
  const [reason, author] = [cut(wanted.reason, 'reason'), cut(wanted.author, 'author')];
  if (reason === '') throw new UsageError(`${named('reason')} must say why it may stay so`);
  const forMs = parseDuration(wanted.until);
  const until = forMs === undefined ? parseDateTime(wanted.until) : now + forMs;
  if (until === undefined || until <= now || until - now > KNOWN_FOR.mostMs) {
    const most = formatDuration(KNOWN_FOR.mostMs);
    throw new UsageError(
      `${named('until')} must be a duration like ${KNOWN_FOR.usual} or a date like 2026-12-31, at most ${most} from now (got '${wanted.until}')`,
    );
  }
  return { id, what: cut(one.what, 'what'), print: printOf(one), reason, author, from: iso(now), until: iso(until) };
};

/** As the log of operators has it. */
export const knownFacts = ({ id, what, reason, author, until }: KnownRemark) => ({
  remark: id,
  what,
  reason,
  author,
  until,
});

const MOST_KNOWN = 200;

export type KnownRemarks = ReturnType<typeof createKnownRemarks>;

/** In one hash of Redis, for all daemons. `now`: epoch milliseconds. */
export const createKnownRemarks = (redis: Redis | Cluster, prefix: string, now: () => number, most = MOST_KNOWN) => {
  const key = `${prefix}:known`;
  const read = async () => (await redis.hvals(key)).map((json) => JSON.parse(json) as KnownRemark);
  const holds = ({ until }: KnownRemark): boolean => Date.parse(until) > now();
  return {
    /** Those that have not ended, the next to end first. */
    list: async () => (await read()).filter(holds).toSorted((a, b) => a.until.localeCompare(b.until)),
    /** In place of what was said of the same remark before. Forgets those that are over. Throws a `UsageError` where too many are known. */
    add: async (one: KnownRemark): Promise<void> => {
      const all = await read();
      if (all.filter((each) => holds(each) && each.id !== one.id).length >= most) {
        throw new UsageError(`${most} remarks are known, which is the most: end some of them first`);
      }
      const batch = redis.pipeline();
      for (const each of all) if (!holds(each)) batch.hdel(key, each.id);
      await execute(batch.hset(key, one.id, JSON.stringify(one)));
    },
    end: async (id: string): Promise<void> => void (await redis.hdel(key, id)),
  };
};
