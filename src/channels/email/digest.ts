/** A digest as the parts of a mail: the worst items and counts in the mail, the whole list in an attached file. */
import type { Sliced } from '../../slices.ts';
import type { Format } from '../channel.ts';
import { type DigestContent, nameOf } from '../digest-content.ts';
import { digestFile, itemLine } from '../digest-file.ts';
import type { MailParts } from './body.ts';
import { digestHtml } from './digest-html.ts';
import { aboutItem, type Shown, type ShownItem, shownOf } from './digest-shown.ts';
import { paragraphs, quoted, wrap } from './wrap.ts';

const tableText = ({ title, rows, more }: Shown['tables'][number]): string =>
  [
    title,
    ...rows.map(({ name, count }) => `${String(count).padStart(6)}  ${name}`),
    ...(more > 0 ? [`        and ${more.toLocaleString('en')} more`] : []),
  ].join('\n');

const itemText = (item: ShownItem): string =>
  [item.title, quoted(item.said.join('\n')), nameOf(item), aboutItem(item)].join('\n');

const digestText = ({ title, span, why, notice = '' }: DigestContent, shown: Shown, footer: string): string =>
  paragraphs(
    title,
    'The worst first',
    ...shown.worst.map(itemText),
    wrap(notice),
    ...shown.tables.map(tableText),
    `${span}\n${wrap(why)}`,
    shown.others.length === 0 ? '' : 'The others',
    ...shown.others.map(itemText),
    wrap(shown.rest),
    footer,
  );

/** No file, no markup: every hash in the text. */
const minimalText = ({ title, span, notice = '', items, command }: DigestContent, footer: string): string =>
  paragraphs(title, items.map(itemLine).join('\n'), notice, `${span}\nAll of them: ${command}`, footer);

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
