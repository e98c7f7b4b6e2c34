/**
 * Which marked-up parts of a message are shown. Telegram takes a message whose entities overlap or nest as they must not,
 * and drops some of them without a word; only a hundred of a message are kept.
 * Source: https://core.telegram.org/bots/api#formatting-options and `fix_entities` in `MessageEntity.cpp` of
 * https://github.com/tdlib/td
 */

export interface TelegramEntity {
  type: string;
  /** In UTF-16 units of the parsed text, as Telegram counts. */
  offset: number;
  length: number;
  url?: string;
  /** Of a `date_time`: seconds since 1970. */
  unixTime?: number;
  /** Of a `date_time`: letters of `r|w?[dD]?[tT]?`. */
  format?: string;
  /** Of a `pre`. */
  language?: string;
}

const ENTITIES_MAX = 100;

/** Styles can contain each other and be part of the others. */
const STYLES = ['bold', 'italic', 'underline', 'strikethrough', 'spoiler'];
const QUOTES = ['blockquote', 'expandable_blockquote'];
/** These contain nothing and are part of nothing but a quote. */
const ALONE = ['code', 'pre', 'date_time'];

/** Of two entities over the same text the first stays. */
const PRIORITIES = ['blockquote', 'expandable_blockquote', 'pre', 'code', 'date_time', 'text_link', ...STYLES];

const endOf = ({ offset, length }: TelegramEntity): number => offset + length;

const byPlace = (one: TelegramEntity, other: TelegramEntity): number =>
  one.offset - other.offset ||
  other.length - one.length ||
  PRIORITIES.indexOf(one.type) - PRIORITIES.indexOf(other.type);

const overlap = (one: TelegramEntity, other: TelegramEntity): boolean =>
  one.offset < endOf(other) && other.offset < endOf(one);

const isWithin = (inner: TelegramEntity, outer: TelegramEntity): boolean =>
  inner.offset >= outer.offset && endOf(inner) <= endOf(outer);

/** Without those that begin before an earlier one ends. */
const withoutOverlaps = (entities: readonly TelegramEntity[]): TelegramEntity[] => {
  const kept: TelegramEntity[] = [];
  for (const entity of entities) {
    const last = kept.at(-1);
    if (!last || entity.offset >= endOf(last)) kept.push(entity);
  }
  return kept;
};

export interface Shown {
  entities: TelegramEntity[];
  /** What Telegram drops; a style that covers code is dropped there, and here as a whole. */
  lost: TelegramEntity[];
}

export const settleEntities = (parsed: readonly TelegramEntity[]): Shown => {
  const sorted = parsed.filter(({ length }) => length > 0).toSorted(byPlace);
  const quotes = withoutOverlaps(sorted.filter(({ type }) => QUOTES.includes(type)));
  const marks = withoutOverlaps(sorted.filter(({ type }) => !QUOTES.includes(type) && !STYLES.includes(type))).filter(
    (mark) => quotes.every((quote) => !overlap(mark, quote) || isWithin(mark, quote)),
  );
  const alone = marks.filter(({ type }) => ALONE.includes(type));
  const styles = sorted.filter(
    (entity) => STYLES.includes(entity.type) && !alone.some((mark) => overlap(mark, entity)),
  );
  const kept = new Set([...quotes, ...marks, ...styles].toSorted(byPlace).slice(0, ENTITIES_MAX));
  return { entities: sorted.filter((entity) => kept.has(entity)), lost: sorted.filter((entity) => !kept.has(entity)) };
};
