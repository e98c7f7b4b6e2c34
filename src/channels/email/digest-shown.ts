/** What is shown of a digest in the mail itself, as text and as HTML alike. */
import { cleanLine, shorten } from '../../text.ts';
import {
  type Count,
  type CountTable,
  type DigestContent,
  type DigestItem,
  detectionText,
  topOf,
} from '../digest-content.ts';

/** Items in the mail itself: some mail programs cut a mail beyond about 100 kB. */
export const INLINE_MAX = 20;
/** The worst items, shown first and with the messages of their detectors. */
const WORST_MAX = 3;
const SAID_LIMIT = 400;
/** Of an item that is not among the worst. */
const HAPPENED_LIMIT = 160;
const ROWS_MAX = 8;

/** `said`: from outside, a line each. */
export type ShownItem = DigestItem & { said: string[] };

export interface Shown {
  worst: ShownItem[];
  tables: { title: string; rows: Count[]; more: number }[];
  others: ShownItem[];
  /** Says where the other items are, or where everything is in full. */
  rest: string;
}

const saidIn = ({ detections, message, happened }: DigestItem): string[] => {
  const said = [
    ...detections.filter((detection) => detection.message !== '').map(detectionText),
    ...(message === undefined ? [] : [message]),
  ];
  return (said.length === 0 ? [happened] : said.slice(0, WORST_MAX)).map((text) =>
    shorten(cleanLine(text), SAID_LIMIT),
  );
};

/** `file`: the name of the attached file, which has the rest. */
export const shownOf = (content: DigestContent, file: string): Shown => {
  const { items, tables } = content;
  const more = items.length - INLINE_MAX;
  return {
    worst: items.slice(0, WORST_MAX).map((item) => ({ ...item, said: saidIn(item) })),
    tables: tables.map((table: CountTable) => ({ title: table.title, ...topOf(table, ROWS_MAX) })),
    others: items
      .slice(WORST_MAX, INLINE_MAX)
      .map((item) => ({ ...item, said: [shorten(cleanLine(item.happened), HAPPENED_LIMIT)] })),
    rest:
      more > 0
        ? `${more.toLocaleString('en')} more: the attached ${file} lists all ${items.length.toLocaleString('en')} with what was said.`
        : `What was said of each: in the attached ${file}.`,
  };
};

/** Why it ranks where it does, where and when: `privileged call · Base · 2026-11-20 10:07:31 UTC`. */
export const aboutItem = ({ remarks, chain, chainName = chain, time }: DigestItem): string =>
  [...remarks, ...(chainName === undefined ? [] : [chainName]), time].join(' · ');
