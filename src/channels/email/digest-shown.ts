/** What is shown of a digest in the mail itself, as text and as HTML alike. */
import { cleanLine, shorten } from '../../text.ts';
import { type CountTable, type DigestContent, type DigestItem, topOf } from '../digest-content.ts';

/** Items in the mail itself: some mail programs cut a mail beyond about 100 kB. */
export const INLINE_MAX = 50;
/** The worst items, shown with the messages of their detectors. */
const DETAILED_MAX = 3;
const SAID_LIMIT = 400;
const ROWS_MAX = 8;

export interface Shown {
  tables: { title: string; rows: { name: string; count: number }[]; more: number }[];
  items: (DigestItem & { said: string[] })[];
  /** Says where the other items are, or where everything is in full. */
  rest: string;
}

const saidIn = ({ detections, message }: DigestItem): string[] => [
  ...detections
    .filter((detection) => detection.message !== '')
    .map(({ name, message: said }) => shorten(cleanLine(`${name}: ${said}`), SAID_LIMIT)),
  ...(message === undefined ? [] : [shorten(cleanLine(message), SAID_LIMIT)]),
];

/** `file`: the name of the attached file, which has the rest. */
export const shownOf = (content: DigestContent, file: string): Shown => {
  const { items, tables } = content;
  const more = items.length - INLINE_MAX;
  return {
    tables: tables.map((table: CountTable) => ({ title: table.title, ...topOf(table, ROWS_MAX) })),
    items: items
      .slice(0, INLINE_MAX)
      .map((item, index) => ({ ...item, said: index < DETAILED_MAX ? saidIn(item).slice(0, DETAILED_MAX) : [] })),
    rest:
      more > 0
        ? `${more} more: the attached ${file} lists all ${items.length} with what was said.`
        : `What was said of each: in the attached ${file}.`,
  };
};
