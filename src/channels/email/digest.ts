/** A digest as the parts of a mail: counts and the worst items in the mail, the whole list in an attached file. */

import type { Sliced } from '../../slices.ts';
import type { Format } from '../channel.ts';
import { type DigestContent, nameOf } from '../digest-content.ts';
import { digestFile, itemLine } from '../digest-file.ts';
import type { MailParts } from './body.ts';
import { digestHtml } from './digest-html.ts';
import { type Shown, shownOf } from './digest-shown.ts';
import { paragraphs } from './single.ts';

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
export function* digestParts(
  content: DigestContent,
  subject: string,
  footer: string,
  format: Format,
): Sliced<MailParts> {
  if (format === 'minimal') return { text: minimalText(content, footer) };
  const { name, text } = yield* digestFile(content);
  const shown = shownOf(content, name);
  return {
    text: digestText(content, shown, footer),
    ...(format === 'rich' ? { html: digestHtml(content, shown, subject, footer) } : {}),
    attachments: [{ filename: name, content: text }],
  };
}
