/**
 * The look of all our mails: one column of plain blocks that a narrow phone shows without zooming, light and dark, and
 * nothing to load. The light styles are inline, because some mail programs drop the style sheet; the sheet only changes
 * the colours on a dark system. Nothing is said by a colour alone.
 */
import { escapeHtml, shorten } from '../../text.ts';
import type { Tone } from '../content/severity.ts';
import type { MailParts } from './body.ts';

/** `<br>` works in every mail program; `PRE` also keeps the spaces of aligned text, where it is supported. */
export const lines = (text: string): string => escapeHtml(text).replaceAll('\n', '<br>');
export const PRE = 'white-space:pre-wrap';

/** Light and dark colour of each tone; both are readable as text on their background (4.5 to 1, WCAG 2.2). */
const ACCENTS: Readonly<Record<Tone, { light: string; dark: string }>> = {
  critical: { light: '#b42318', dark: '#ff9285' },
  suspicious: { light: '#a15c07', dark: '#f5b766' },
  calm: { light: '#067647', dark: '#75e0a7' },
  news: { light: '#175cd3', dark: '#84b6ff' },
  trouble: { light: '#93370d', dark: '#fdb022' },
  test: { light: '#475467', dark: '#a4adba' },
};

export const accentOf = (tone: Tone): string => ACCENTS[tone].light;

const FONT = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
export const MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";
export const WRAP = 'overflow-wrap:anywhere;word-break:break-word';

export const INK = 'color:#1d2127';
export const MUTED = 'color:#5b6472';
export const LINK = 'color:#175cd3';
const SMALL = `font-size:13px;line-height:1.4;${MUTED}`;

const DARK = [
  '.page{background:#101317!important}',
  '.card{background:#1a1f25!important}',
  '.ink{color:#e7eaee!important}',
  '.muted{color:#a0a9b5!important}',
  '.link{color:#84b6ff!important}',
  '.button{color:#84b6ff!important;border-color:#84b6ff!important}',
  '.note{background:#2a313a!important}',
  '.quote{background:#20262e!important;border-color:#7d8896!important}',
  '.rule{border-color:#323a44!important}',
  ...Object.entries(ACCENTS).map(
    ([tone, { dark }]) => `.${tone}{color:${dark}!important;border-color:${dark}!important}`,
  ),
].join('');

const HEAD = [
  '<meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  '<meta name="color-scheme" content="light dark">',
  '<meta name="supported-color-schemes" content="light dark">',
  // Otherwise phones turn the digits of a hash into telephone numbers, and words into places.
  '<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">',
  `<style>:root{color-scheme:light dark}.preheader{display:none}@media (prefers-color-scheme:dark){${DARK}}</style>`,
].join('\n');

/** Parts the sections of a card. */
export const RULE =
  '<hr class="rule" style="margin:18px 0;border:0;border-top:1px solid #e3e6ea;height:0;background:none">';

/** A line of little weight; empty for an empty one. */
export const smallHtml = (html: string, margin: string): string =>
  html === '' ? '' : `<p class="muted" style="margin:${margin};${SMALL};${WRAP}">${html}</p>`;

export const noticeHtml = (notice: string): string =>
  `<p class="note ink" style="margin:14px 0 0;padding:10px 12px;border-radius:6px;background:#eef1f5;` +
  `font-size:15px;line-height:1.4;${INK};${WRAP}">${escapeHtml(notice)}</p>`;

/** What somebody else says; `html` is finished. */
export const quoteHtml = (html: string): string =>
  `<blockquote class="quote ink" style="margin:12px 0 0;padding:8px 12px;border-left:4px solid #98a2b3;` +
  `background:#f6f7f9;font-size:16px;line-height:1.45;${INK};${WRAP}">${html}</blockquote>`;

/** Padding and a border make it a button where they are supported, and it is a link everywhere. */
export const buttonHtml = (label: string, url: string): string =>
  `<a class="button" href="${escapeHtml(url)}" style="display:inline-block;margin:0 8px 8px 0;padding:9px 16px;` +
  `border:1px solid #175cd3;border-radius:6px;font-size:15px;line-height:1.3;font-weight:600;text-decoration:none;` +
  `${LINK};${WRAP}">${escapeHtml(label)}</a>`;

/** The first lines of a card: how bad it is, by sign and word, and a title. */
export const headingHtml = (tone: Tone, label: string, title: string): string =>
  [
    `<p class="${tone}" style="margin:0;font-size:14px;font-weight:700;letter-spacing:.03em;color:${accentOf(tone)};${WRAP}">${escapeHtml(label)}</p>`,
    `<h1 class="ink" style="margin:2px 0 0;font-size:22px;line-height:1.25;font-weight:700;${INK};${WRAP}">${escapeHtml(title)}</h1>`,
  ].join('\n');

const PREHEADER_LIMIT = 240;
/**
 * In the style sheet it is `display:none`, which would count as hidden text in its style, as tiny letters would: a spam filter
 * takes points off for both. Source: SpamAssassin's 72_active.cf, `__STY_INVIS` and `__FONT_INVIS`.
 */
const PREHEADER =
  '<div class="preheader" aria-hidden="true" style="max-height:0;max-width:0;overflow:hidden;opacity:0;mso-hide:all">';

/** What mail programs show beside the subject. It is not shown in the mail, where the same stands again. */
const preheaderHtml = (text: string): string => `${PREHEADER}${escapeHtml(shorten(text, PREHEADER_LIMIT))}</div>`;

/** `html`, a whole document of this file, with `what` before the text that mail programs show beside the subject. */
export const withWhat = (html: string, what: string): string =>
  html.replace(PREHEADER, () => `${PREHEADER}${escapeHtml(what)}: `);

interface Page {
  tone: Tone;
  subject: string;
  /** In one line; its beginning is shown. */
  preheader: string;
  /** Finished HTML of the card, a section each; empty ones are left out. */
  sections: readonly string[];
  /** Plain text under the card. */
  footer: string;
}

/** A whole HTML document. */
export const pageHtml = ({ tone, subject, preheader, sections, footer }: Page): string => {
  const body = sections.filter((part) => part !== '').join(`\n${RULE}\n`);
  return `<!doctype html>
<html lang="en">
<head>
${HEAD}
<title>${escapeHtml(subject)}</title>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f5f7;font-family:${FONT};-webkit-text-size-adjust:100%">
${preheaderHtml(preheader)}
<div class="page" role="article" aria-roledescription="email" style="padding:12px;background:#f3f5f7">
<div class="card ${tone}" role="main" style="max-width:600px;margin:0 auto;padding:20px 20px 14px;box-sizing:border-box;background:#ffffff;border-top:4px solid ${accentOf(tone)};border-radius:8px">
${body}
</div>
<div role="contentinfo">
<p class="muted" style="max-width:600px;margin:12px auto;padding:0 20px;box-sizing:border-box;${SMALL};${WRAP}">${lines(footer)}</p>
</div>
</div>
</body>
</html>
`;
};

const LABEL = 'Acknowledge';

/** Texts from outside are escaped, so the first rule is ours. Without one, the link is the last thing of the page. */
const inHtml = (html: string, url: string): string => {
  const rule = html.indexOf(RULE);
  const place = rule < 0 ? html.lastIndexOf('</body>') : rule;
  const link = `<p style="margin:14px 0 0">${buttonHtml(LABEL, url)}</p>\n`;
  return place < 0 ? `${html}${link}` : `${html.slice(0, place)}${link}${html.slice(place)}`;
};

/** Texts from outside are quoted, so this line is ours. */
const DETAILS = '\n\nDetails\n\n';

const inText = (text: string, url: string): string => {
  const line = `${LABEL}: ${url}`;
  const place = text.indexOf(DETAILS);
  return place < 0 ? `${text.trimEnd()}\n\n${line}\n` : `${text.slice(0, place)}\n\n${line}${text.slice(place)}`;
};

/** With the link by which the reader acknowledges the alerts: above the details, in both parts of the mail. */
export const withAcknowledgeLink = <Parts extends MailParts>(parts: Parts, url: string): Parts => {
  const { text, html } = parts;
  return { ...parts, text: inText(text, url), ...(html === undefined ? {} : { html: inHtml(html, url) }) };
};
