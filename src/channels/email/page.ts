/**
 * The look of all our mails: one column of plain blocks that a narrow phone shows without zooming, light and dark, and
 * nothing to load. The light styles are inline, because some mail programs drop the style sheet; the sheet only changes
 * the colours on a dark system.
 */
import { escapeHtml } from '../../html.ts';

/** `<br>` works in every mail program; `PRE` also keeps the spaces of aligned text, where it is supported. */
export const lines = (text: string): string => escapeHtml(text).replaceAll('\n', '<br>');
export const PRE = 'white-space:pre-wrap';

/** Light and dark colour of the severity; both are readable as text on their background. */
const ACCENTS: Readonly<Record<string, { name: string; light: string; dark: string }>> = {
  CRITICAL: { name: 'critical', light: '#b42318', dark: '#ff9285' },
  SUSPICIOUS: { name: 'suspicious', light: '#a15c07', dark: '#f5b766' },
  NOTIFICATION: { name: 'news', light: '#175cd3', dark: '#84b6ff' },
};
const OTHER = { name: 'other', light: '#475467', dark: '#a4adba' };

export const accentOf = (severity: string) =>
  (Object.hasOwn(ACCENTS, severity) ? ACCENTS[severity] : undefined) ?? OTHER;

const FONT = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
export const MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";
export const WRAP = 'overflow-wrap:anywhere;word-break:break-word';

export const INK = 'color:#1d2127';
export const MUTED = 'color:#5b6472';
export const LINK = 'color:#175cd3';
export const SMALL = `font-size:13px;line-height:1.4;${MUTED}`;

const DARK = [
  '.page{background:#101317!important}',
  '.card{background:#1a1f25!important}',
  '.ink{color:#e7eaee!important}',
  '.muted{color:#a0a9b5!important}',
  '.link{color:#84b6ff!important}',
  '.note{background:#2a313a!important}',
  '.rule{border-color:#323a44!important}',
  ...[...Object.values(ACCENTS), OTHER].map(
    ({ name, dark }) => `.${name}{color:${dark}!important;border-color:${dark}!important}`,
  ),
].join('');

const HEAD = [
  '<meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  '<meta name="color-scheme" content="light dark">',
  '<meta name="supported-color-schemes" content="light dark">',
  // Otherwise phones turn the digits of a hash into telephone numbers, and words into places.
  '<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">',
  `<style>:root{color-scheme:light dark}@media (prefers-color-scheme:dark){${DARK}}</style>`,
].join('\n');

const rule = (): string =>
  '<hr class="rule" style="margin:18px 0;border:0;border-top:1px solid #e3e6ea;height:0;background:none">';

export const noticeHtml = (notice: string): string =>
  `<p class="note ink" style="margin:14px 0 0;padding:10px 12px;border-radius:6px;background:#eef1f5;` +
  `font-size:15px;line-height:1.4;${INK}">${escapeHtml(notice)}</p>`;

/** The first lines of a card: the severity, and a title. */
export const headingHtml = (severity: string, title: string): string => {
  const { name, light } = accentOf(severity);
  return [
    `<p class="${name}" style="margin:0;font-size:13px;font-weight:700;letter-spacing:.05em;color:${light};${WRAP}">${escapeHtml(severity)}</p>`,
    `<h1 class="ink" style="margin:2px 0 0;font-size:22px;line-height:1.25;font-weight:700;${INK};${WRAP}">${escapeHtml(title)}</h1>`,
  ].join('\n');
};

export interface Page {
  severity: string;
  subject: string;
  /** Finished HTML of the card, a section each; empty ones are left out. */
  sections: readonly string[];
  /** Plain text under the card. */
  footer: string;
}

/** A whole HTML document. */
export const pageHtml = ({ severity, subject, sections, footer }: Page): string => {
  const { name, light } = accentOf(severity);
  const body = sections.filter((part) => part !== '').join(`\n${rule()}\n`);
  return `<!doctype html>
<html lang="en">
<head>
${HEAD}
<title>${escapeHtml(subject)}</title>
</head>
<body class="page" style="margin:0;padding:0;background:#f3f5f7;font-family:${FONT};-webkit-text-size-adjust:100%">
<div class="page" style="padding:12px;background:#f3f5f7">
<div class="card ${name}" style="max-width:600px;margin:0 auto;padding:20px 20px 8px;box-sizing:border-box;background:#ffffff;border-top:4px solid ${light};border-radius:8px">
${body}
</div>
<p class="muted" style="max-width:600px;margin:12px auto;padding:0 20px;box-sizing:border-box;${SMALL};${WRAP}">${lines(footer)}</p>
</div>
</body>
</html>
`;
};
