/** The HTML part of a digest mail: what, how many and where, then the worst items, each with its hash. */
import { escapeHtml } from '../../html.ts';
import { shortenAddresses } from '../../text.ts';
import { type DigestContent, nameOf } from '../digest-content.ts';
import type { Shown } from './digest-shown.ts';
import { accentOf, headingHtml, INK, LINK, MONO, MUTED, noticeHtml, pageHtml, SMALL, WRAP } from './page.ts';

const small = (text: string, margin = '6px 0 0'): string =>
  `<p class="muted" style="margin:${margin};${SMALL};${WRAP}">${escapeHtml(text)}</p>`;

const heading = ({ severity, title, span, why, notice }: DigestContent): string =>
  [
    headingHtml(severity, title),
    `<p class="ink" style="margin:4px 0 0;font-size:15px;line-height:1.4;${INK}">${escapeHtml(span)}</p>`,
    ...(notice === undefined ? [] : [noticeHtml(notice)]),
    small(why, '10px 0 0'),
  ].join('\n');

const subtitle = (text: string): string =>
  `<h2 class="ink" style="margin:0 0 6px;font-size:15px;line-height:1.4;font-weight:700;${INK}">${escapeHtml(text)}</h2>`;

const CELL = 'padding:2px 0;vertical-align:top';

const rowHtml = (count: string, name: string, look: 'ink' | 'muted'): string => {
  const colour = look === 'ink' ? INK : MUTED;
  return (
    `<tr><td class="${look}" style="${CELL};padding-right:12px;text-align:right;font-weight:700;${colour}">${count}</td>` +
    `<td class="${look}" style="${CELL};${colour};${WRAP}">${escapeHtml(name)}</td></tr>`
  );
};

/** Whole addresses would fill a phone; the attached file has them. */
const shortAddresses = (name: string): string => shortenAddresses(name, { head: 10, tail: 6 });

/** The number first: a long name wraps beside it on a narrow phone. */
const tableHtml = ({ title, rows, more }: Shown['tables'][number]): string => {
  const shown = rows.map(({ name, count }) => rowHtml(String(count), shortAddresses(name), 'ink'));
  const rest = more > 0 ? [rowHtml('', `and ${more} more`, 'muted')] : [];
  return `${subtitle(title)}
<table style="margin:0 0 14px;border-collapse:collapse;font-size:15px;line-height:1.4">${[...shown, ...rest].join('\n')}</table>`;
};

const itemHtml = (item: Shown['items'][number]): string => {
  const { name, light } = accentOf(item.severity);
  const text = escapeHtml(nameOf(item));
  const hash =
    item.url === undefined
      ? `<span class="ink" style="${INK}">${text}</span>`
      : `<a class="link" href="${escapeHtml(item.url)}" style="${LINK}">${text}</a>`;
  const place = [item.chain, item.time].filter((part) => part !== undefined).join(', ');
  return [
    `<p class="${name}" style="margin:0 0 12px;padding:0 0 0 10px;border-left:3px solid ${light};font-size:15px;line-height:1.4;${WRAP}">`,
    `<strong class="ink" style="${INK}">${escapeHtml(item.headline)}</strong><br>`,
    `<span style="display:block;font-family:${MONO};font-size:13px">${hash}</span>`,
    ...item.said.map(
      (said) => `<span class="ink" style="display:block;margin:4px 0;${INK}">${escapeHtml(said)}</span>`,
    ),
    `<span class="muted" style="font-size:13px;${MUTED}">${escapeHtml(place)}</span></p>`,
  ].join('');
};

/** A whole HTML document. `footer` is plain text under the card. */
export const digestHtml = (content: DigestContent, shown: Shown, subject: string, footer: string): string =>
  pageHtml({
    severity: content.severity,
    subject,
    footer,
    sections: [
      heading(content),
      shown.tables.map(tableHtml).join('\n'),
      [subtitle('The worst first'), ...shown.items.map(itemHtml), small(shown.rest, '0 0 12px')].join('\n'),
    ],
  });
