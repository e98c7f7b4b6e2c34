/** A digest as the parts of a mail: counts and the worst to read at once, the whole list as a file with it. */

import { cleanLine, shorten } from '../../text.ts';
import type { Format } from '../channel.ts';
import { type CountTable, type DigestContent, type DigestItem, nameOf, topOf } from '../digest.ts';
import { digestFile, itemLine } from '../digest-file.ts';
import { digestHtml } from './digest-html.ts';
import type { MailParts } from './message.ts';
import { paragraphs } from './single.ts';

/** Items in the mail itself; a mail of some 100 kB is cut by some mail programs. */
export const INLINE_MAX = 50;
/** Of so many of the worst the mail tells what the detectors said. */
const TOLD_MAX = 3;
const SAID_LIMIT = 400;
const ROWS_MAX = 8;

/** What is shown of a digest in the mail itself; the same in text and HTML. */
export interface Shown {
  tables: { title: string; rows: { name: string; count: number }[]; more: number }[];
  items: (DigestItem & { said: string[] })[];
  /** Says where the rest is, or where all of it is told in full. */
  rest: string;
}

const saidIn = ({ detections, message }: DigestItem): string[] => [
  ...detections
    .filter((detection) => detection.message !== '')
    .map(({ name, message: said }) => shorten(cleanLine(`${name}: ${said}`), SAID_LIMIT)),
  ...(message === undefined ? [] : [shorten(cleanLine(message), SAID_LIMIT)]),
];

const shownOf = (content: DigestContent, file: string): Shown => {
  const { items, tables } = content;
  const more = items.length - INLINE_MAX;
  return {
    tables: tables.map((table: CountTable) => ({ title: table.title, ...topOf(table, ROWS_MAX) })),
    items: items
      .slice(0, INLINE_MAX)
      .map((item, index) => ({ ...item, said: index < TOLD_MAX ? saidIn(item).slice(0, TOLD_MAX) : [] })),
    rest:
      more > 0
        ? `${more} more: the attached ${file} lists all ${items.length} with what was said.`
        : `What was said of each: in the attached ${file}.`,
  };
};

const tableText = ({ title, rows, more }: Shown['tables'][number]): string =>
  [
    title,
    ...rows.map(({ name, count }) => `${String(count).padStart(6)}  ${name}`),
    ...(more > 0 ? [`        and ${more} more`] : []),
  ].join('\n');

const itemText = (item: Shown['items'][number], index: number): string =>
  [
    `${index + 1}. ${item.headline}`,
    nameOf(item),
    [item.chain, item.time].filter((part) => part !== undefined).join(', '),
    ...item.said,
  ].join('\n');

const digestText = ({ title, span, why, notice = '' }: DigestContent, shown: Shown, footer: string): string =>
  paragraphs(
    `${title}\n${span}`,
    notice,
    why,
    ...shown.tables.map(tableText),
    'The worst first',
    ...shown.items.map(itemText),
    shown.rest,
    footer,
  );

/** No file, no markup: every hash in the text. */
const minimalText = ({ title, span, notice = '', items, command }: DigestContent, footer: string): string =>
  paragraphs(`${title}\n${span}`, notice, items.map(itemLine).join('\n'), `All of them: ${command}`, footer);

/** The parts of a mail about many alerts. */
export const digestParts = (content: DigestContent, subject: string, footer: string, format: Format): MailParts => {
  if (format === 'minimal') return { text: minimalText(content, footer) };
  const { name, text } = digestFile(content);
  const shown = shownOf(content, name);
  return {
    text: digestText(content, shown, footer),
    ...(format === 'rich' ? { html: digestHtml(content, shown, subject, footer) } : {}),
    attachments: [{ filename: name, content: text }],
  };
};
