/** A digest as the parts of a mail: the worst items and counts in the mail, the whole list in an attached file. */
import type { Sliced } from '../../chunks.ts';
import { cleanLine, escapeHtml, shorten } from '../../text.ts';
import type { Format } from '../channel.ts';
import { type Line, lineText } from '../content/content.ts';
import { shortenHex } from '../content/foreign.ts';
import {
  type Count,
  type DigestContent,
  type DigestItem,
  detectionText,
  digestFile,
  itemLine,
  nameOf,
  othersLine,
  titleOf,
  topOf,
  worstOf,
} from '../digest-content.ts';
import { joined, type MailParts, paragraphs, quoted, wrap } from './body.ts';
import { accentOf, headingHtml, INK, LINK, MONO, MUTED, noticeHtml, pageHtml, smallHtml, WRAP } from './page.ts';

/** Items in the mail itself: some mail programs cut a mail beyond about 100 kB. */
export const INLINE_MAX = 20;
/** Transactions that are named besides: linked, they take 55 kB. */
const NAMED_MAX = 300;
/** The worst items, shown first and with the messages of their detectors. */
const WORST_MAX = 3;
const SAID_LIMIT = 400;
/** Of an item that is not among the worst. */
const HAPPENED_LIMIT = 160;

/** `saidLines`: from outside. */
type ShownItem = DigestItem & { saidLines: string[] };

interface Shown {
  worst: ShownItem[];
  tables: { title: string; rows: Count[]; more: number }[];
  others: ShownItem[];
  /** Names what has no line, and says where the other items are, or where everything is in full. */
  rest: Line;
}

const saidIn = ({ gist, message, happened }: DigestItem): string[] => {
  const said = [
    ...gist.filter((one) => one.message !== '').map(detectionText),
    ...(message === undefined ? [] : [message]),
  ];
  return (said.length === 0 ? [happened] : said.slice(0, WORST_MAX)).map((text) =>
    shorten(cleanLine(text), SAID_LIMIT),
  );
};

/** `file`: the name of the attached file, which has the rest. */
const shownOf = (content: DigestContent, file: string): Shown => {
  const { items, tables } = content;
  const shown = worstOf(content, INLINE_MAX);
  const more = items.length - shown.reduce((sum, { alike }) => sum + alike, 0);
  return {
    worst: shown.slice(0, WORST_MAX).map((item) => ({ ...item, saidLines: saidIn(item) })),
    tables: tables.map((table) => ({ title: table.title, ...topOf(table) })),
    others: shown
      .slice(WORST_MAX)
      .map((item) => ({ ...item, saidLines: [shorten(cleanLine(item.happened), HAPPENED_LIMIT)] })),
    rest: [
      ...othersLine(content, shown, NAMED_MAX),
      {
        text:
          more > 0
            ? `\n${more.toLocaleString('en')} more: the attached ${file} lists all ${items.length.toLocaleString('en')} with what was said.`
            : `\nWhat was said of each: in the attached ${file}.`,
      },
    ],
  };
};

/** Why it ranks where it does, where and when: `privileged call · Base · 2026-11-20 10:07:31 UTC`. */
const aboutItem = ({ remarks, chain, chainName = chain, time }: DigestItem): string =>
  [...remarks, ...(chainName === undefined ? [] : [chainName]), time].join(' · ');

const small = (text: string, margin: string): string => smallHtml(escapeHtml(text), margin);

const heading = ({ tone, sign, severity, title }: DigestContent): string =>
  headingHtml(tone, `${sign} ${severity}`, title.slice(sign.length).trim());

/** From when to when, and why all of it is one mail. */
const period = ({ span, why }: DigestContent): string =>
  [
    `<p class="ink" style="margin:4px 0 0;font-size:15px;line-height:1.4;${INK}">${escapeHtml(span)}</p>`,
    small(why, '4px 0 0'),
  ].join('\n');

const subtitle = (text: string): string =>
  `<h2 class="ink" style="margin:0 0 6px;font-size:15px;line-height:1.4;font-weight:700;${INK}">${escapeHtml(text)}</h2>`;

const linked = (html: string, url: string | undefined): string =>
  url === undefined ? html : `<a class="link" href="${escapeHtml(url)}" style="${LINK}">${html}</a>`;

const rowHtml = (count: string, html: string, look: 'ink' | 'muted'): string => {
  const colour = look === 'ink' ? INK : MUTED;
  const cell = 'padding:2px 0;vertical-align:top';
  return (
    `<tr><td class="${look}" style="${cell};padding-right:12px;text-align:right;font-weight:700;${colour}">${count}</td>` +
    `<td class="${look}" style="${cell};${colour};${WRAP}">${html}</td></tr>`
  );
};

/** The number first: a long name wraps beside it on a narrow phone. Whole addresses would fill one; the file has them. */
const tableHtml = ({ title, rows, more }: Shown['tables'][number]): string => {
  const shown = rows.map(({ name, count, url }) => {
    return rowHtml(count.toLocaleString('en'), linked(escapeHtml(shortenHex(name)), url), 'ink');
  });
  const rest = more > 0 ? [rowHtml('', `and ${more.toLocaleString('en')} more`, 'muted')] : [];
  return `${subtitle(title)}
<table role="presentation" style="margin:0 0 14px;border-collapse:collapse;font-size:15px;line-height:1.4">${[...shown, ...rest].join('\n')}</table>`;
};

/** What somebody else says: behind a line of its own colour, not of the severity's. */
const saidHtml = (said: readonly string[]): string =>
  `<blockquote class="quote ink" style="margin:4px 0;padding:2px 8px;border-left:3px solid #98a2b3;background:#f6f7f9;${INK}">` +
  `${said.map(escapeHtml).join('<br>')}</blockquote>`;

/** A linked hash is short; one that leads nowhere is whole, so that it can be copied. */
const hashHtml = (item: ShownItem): string => {
  const { url, shortHash } = item;
  const shown = url === undefined ? nameOf(item) : (shortHash ?? nameOf(item));
  return linked(`<span style="font-family:${MONO}">${escapeHtml(shown)}</span>`, url);
};

const itemHtml = (item: ShownItem): string =>
  [
    `<div class="${item.tone}" style="margin:0 0 14px;padding:0 0 0 10px;border-left:3px solid ${accentOf(item.tone)};font-size:15px;line-height:1.4;${WRAP}">`,
    `<strong class="ink" style="${INK}">${escapeHtml(titleOf(item))}</strong>`,
    saidHtml(item.saidLines),
    `<span class="muted" style="font-size:13px;${MUTED}">${hashHtml(item)} · ${escapeHtml(aboutItem(item))}</span></div>`,
  ].join('');

const itemsHtml = (title: string, items: readonly ShownItem[]): string =>
  items.length === 0 ? '' : [subtitle(title), ...items.map(itemHtml)].join('\n');

const restHtml = ({ rest }: Shown): string =>
  smallHtml(rest.map(({ text, url }) => linked(escapeHtml(text), url)).join(''), '0 0 12px');

const preheaderOf = ({ worst: [worst] }: Shown): string =>
  worst === undefined ? '' : `The worst: ${worst.title.slice(worst.sign.length).trim()}: ${worst.said}`;

/** A whole HTML document. `footer` is plain text under the card. */
const digestHtml = (content: DigestContent, shown: Shown, subject: string, footer: string): string =>
  pageHtml({
    ...{ tone: content.tone, subject, footer, preheader: preheaderOf(shown) },
    sections: [
      heading(content),
      [
        itemsHtml('The worst first', shown.worst),
        ...(content.notice === undefined ? [] : [noticeHtml(content.notice)]),
      ].join('\n'),
      [...shown.tables.map(tableHtml), period(content)].join('\n'),
      joined([itemsHtml('The others', shown.others), restHtml(shown)]),
    ],
  });

const tableText = ({ title, rows, more }: Shown['tables'][number]): string =>
  [
    title,
    ...rows.map(({ name, count }) => `${String(count).padStart(6)}  ${name}`),
    ...(more > 0 ? [`        and ${more.toLocaleString('en')} more`] : []),
  ].join('\n');

const itemText = (item: ShownItem): string =>
  [titleOf(item), quoted(item.saidLines.join('\n')), nameOf(item), aboutItem(item)].join('\n');

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
    wrap(lineText(shown.rest).trim()),
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
