/** The HTML part of a digest mail, in the order of `../digest-content.ts`. */
import { escapeHtml } from '../../html.ts';
import { shorten, shortenAddresses } from '../../text.ts';
import { type DigestContent, nameOf } from '../digest-content.ts';
import { aboutItem, type Shown, type ShownItem } from './digest-shown.ts';
import { accentOf, headingHtml, INK, LINK, MONO, MUTED, noticeHtml, pageHtml, SMALL, WRAP } from './page.ts';

const small = (text: string, margin = '6px 0 0'): string =>
  `<p class="muted" style="margin:${margin};${SMALL};${WRAP}">${escapeHtml(text)}</p>`;

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

const CELL = 'padding:2px 0;vertical-align:top';

const linked = (html: string, url: string | undefined): string =>
  url === undefined ? html : `<a class="link" href="${escapeHtml(url)}" style="${LINK}">${html}</a>`;

const rowHtml = (count: string, html: string, look: 'ink' | 'muted'): string => {
  const colour = look === 'ink' ? INK : MUTED;
  return (
    `<tr><td class="${look}" style="${CELL};padding-right:12px;text-align:right;font-weight:700;${colour}">${count}</td>` +
    `<td class="${look}" style="${CELL};${colour};${WRAP}">${html}</td></tr>`
  );
};

/** Whole addresses would fill a phone; the attached file has them. */
const shortAddresses = (name: string): string => shortenAddresses(name, { head: 6, tail: 4 });

/** The number first: a long name wraps beside it on a narrow phone. */
const tableHtml = ({ title, rows, more }: Shown['tables'][number]): string => {
  const shown = rows.map(({ name, count, url }) =>
    rowHtml(count.toLocaleString('en'), linked(escapeHtml(shortAddresses(name)), url), 'ink'),
  );
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
    `<strong class="ink" style="${INK}">${escapeHtml(item.title)}</strong>`,
    saidHtml(item.said),
    `<span class="muted" style="font-size:13px;${MUTED}">${hashHtml(item)} · ${escapeHtml(aboutItem(item))}</span></div>`,
  ].join('');

const itemsHtml = (title: string, items: readonly ShownItem[]): string =>
  items.length === 0 ? '' : [subtitle(title), ...items.map(itemHtml)].join('\n');

const PREHEADER_LIMIT = 240;

const preheaderOf = ({ worst: [worst] }: Shown): string =>
  worst === undefined
    ? ''
    : shorten(`The worst: ${worst.title.slice(worst.sign.length).trim()}: ${worst.happened}`, PREHEADER_LIMIT);

/** A whole HTML document. `footer` is plain text under the card. */
export const digestHtml = (content: DigestContent, shown: Shown, subject: string, footer: string): string =>
  pageHtml({
    ...{ tone: content.tone, subject, footer, preheader: preheaderOf(shown) },
    sections: [
      heading(content),
      [
        itemsHtml('The worst first', shown.worst),
        ...(content.notice === undefined ? [] : [noticeHtml(content.notice)]),
      ].join('\n'),
      [...shown.tables.map(tableHtml), period(content)].join('\n'),
      [itemsHtml('The others', shown.others), small(shown.rest, '0 0 12px')].filter((part) => part !== '').join('\n'),
    ],
  });
