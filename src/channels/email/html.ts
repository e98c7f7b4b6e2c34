/**
 * The HTML part of a mail: one column of plain blocks that a narrow phone shows without zooming, light and dark,
 * nothing loaded from anywhere. Styles stand inline for the light look, because some mail programs drop the style
 * sheet; the sheet only turns the colours for those that follow a dark system.
 */
import { escapeHtml } from '../../html.ts';
import type { Content, Detection, Fact } from '../content.ts';
import { shorten } from '../text.ts';

/** `<br>` for every mail program; `pre-wrap` keeps the spaces of aligned text where it is understood. */
const lines = (text: string): string => escapeHtml(text).replaceAll('\n', '<br>');
const PRE = 'white-space:pre-wrap';

/** Light and dark colour of the severity; both are readable as text on their background. */
const ACCENTS: Readonly<Record<string, { name: string; light: string; dark: string }>> = {
  CRITICAL: { name: 'critical', light: '#b42318', dark: '#ff9285' },
  SUSPICIOUS: { name: 'suspicious', light: '#a15c07', dark: '#f5b766' },
  NOTIFICATION: { name: 'news', light: '#175cd3', dark: '#84b6ff' },
};
const OTHER = { name: 'other', light: '#475467', dark: '#a4adba' };

const accentOf = (severity: string) => (Object.hasOwn(ACCENTS, severity) ? ACCENTS[severity] : undefined) ?? OTHER;

const FONT = "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'Liberation Mono',monospace";
const WRAP = 'overflow-wrap:anywhere;word-break:break-word';

const INK = 'color:#1d2127';
const MUTED = 'color:#5b6472';
const LINK = 'color:#175cd3';
const SMALL = `font-size:13px;line-height:1.4;${MUTED}`;

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
  // Phones would turn digits of a hash into telephone numbers and words into places.
  '<meta name="format-detection" content="telephone=no, date=no, address=no, email=no, url=no">',
  `<style>:root{color-scheme:light dark}@media (prefers-color-scheme:dark){${DARK}}</style>`,
].join('\n');

const valueHtml = ({ value, items, url }: Fact): string =>
  url === undefined
    ? (items ?? [value]).map(escapeHtml).join('<br>')
    : `<a class="link" href="${escapeHtml(url)}" style="${LINK};text-decoration:underline">${escapeHtml(value)}</a>`;

const CODE = new Set(['Transaction', 'Origin', 'Method', 'Inspection', 'Notification']);

const factHtml = (fact: Fact): string => {
  const font = CODE.has(fact.label) ? `font-family:${MONO};font-size:14px` : 'font-size:15px';
  return `<dt class="muted" style="margin:0;${SMALL}">${escapeHtml(fact.label)}</dt>
<dd class="ink" style="margin:0 0 12px;${font};line-height:1.45;${INK};${WRAP}">${valueHtml(fact)}</dd>`;
};

const detectionHtml = ({ name, message }: Detection): string =>
  `<p class="ink" style="margin:0 0 14px;font-size:16px;line-height:1.45;${INK};${PRE};${WRAP}">` +
  `<strong>${escapeHtml(name)}</strong><br>${lines(message || 'fired, without a message')}</p>`;

const rule = (): string =>
  '<hr class="rule" style="margin:18px 0;border:0;border-top:1px solid #e3e6ea;height:0;background:none">';

const noticeHtml = (notice: string): string =>
  `<p class="note ink" style="margin:14px 0 0;padding:10px 12px;border-radius:6px;background:#eef1f5;` +
  `font-size:15px;line-height:1.4;${INK}">${escapeHtml(notice)}</p>`;

const NAMES_LIMIT = 300;

const heading = ({ severity, protocol, detections, notice }: Content): string => {
  const { name, light } = accentOf(severity);
  const names = shorten(detections.map((detection) => detection.name).join(', '), NAMES_LIMIT);
  return [
    `<p class="${name}" style="margin:0;font-size:13px;font-weight:700;letter-spacing:.05em;color:${light};${WRAP}">${escapeHtml(severity)}</p>`,
    `<h1 class="ink" style="margin:2px 0 0;font-size:22px;line-height:1.25;font-weight:700;${INK};${WRAP}">${escapeHtml(protocol)}</h1>`,
    names === ''
      ? ''
      : `<p class="ink" style="margin:4px 0 0;font-size:16px;line-height:1.4;${INK};${WRAP}">${escapeHtml(names)}</p>`,
    notice === undefined ? '' : noticeHtml(notice),
  ]
    .filter((part) => part !== '')
    .join('\n');
};

const findings = ({ detections, message }: Content): string =>
  message === undefined
    ? detections.map(detectionHtml).join('\n')
    : `<p class="ink" style="margin:0;font-size:16px;line-height:1.5;${INK};${PRE};${WRAP}">${lines(message)}</p>`;

const LEADING = new Set(['Transaction', 'Chain']);

const factsHtml = (facts: readonly Fact[]): string =>
  facts.length === 0 ? '' : `<dl style="margin:0">\n${facts.map(factHtml).join('\n')}\n</dl>`;

/** Which transaction comes right under what and where; the rest of the facts follows what was found. */
const sections = (content: Content): string[] => [
  factsHtml(content.facts.filter(({ label }) => LEADING.has(label))),
  findings(content),
  factsHtml(content.facts.filter(({ label }) => !LEADING.has(label))),
];

/** A whole HTML document. `footer` is one line of plain text under the card. */
export const renderHtml = (content: Content, subject: string, footer: string): string => {
  const { name, light } = accentOf(content.severity);
  const body = [heading(content), ...sections(content)].filter((part) => part !== '').join(`\n${rule()}\n`);
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
