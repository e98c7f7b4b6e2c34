/** The HTML part of a mail about one incident. */
import { escapeHtml } from '../../html.ts';
import { shorten } from '../../text.ts';
import type { Content, Detection, Fact } from '../content.ts';
import { headingHtml, INK, LINK, lines, MONO, noticeHtml, PRE, pageHtml, SMALL, WRAP } from './page.ts';

const CODE = new Set(['Transaction', 'Origin', 'Method', 'Inspection', 'Notification']);
const CODE_FONT = `font-family:${MONO};font-size:14px`;

/** Code in its own font and linked; a remark behind it is neither. */
const codeHtml = (text: string, url: string | undefined): string => {
  const [, code, remark = ''] = /^(\S+)( \(.*\))?$/.exec(text) ?? [];
  if (code === undefined) return escapeHtml(text);
  const shown = escapeHtml(code);
  return url === undefined
    ? `<span style="${CODE_FONT}">${shown}</span>${escapeHtml(remark)}`
    : `<a class="link" href="${escapeHtml(url)}" style="${CODE_FONT};${LINK};text-decoration:underline">${shown}</a>${escapeHtml(remark)}`;
};

const valueHtml = ({ label, value, items = [value], url }: Fact): string =>
  items.map((item) => (CODE.has(label) ? codeHtml(item, url) : escapeHtml(item))).join('<br>');

const factHtml = (fact: Fact): string =>
  `<dt class="muted" style="margin:0;${SMALL}">${escapeHtml(fact.label)}</dt>
<dd class="ink" style="margin:0 0 12px;font-size:15px;line-height:1.45;${INK};${WRAP}">${valueHtml(fact)}</dd>`;

const detectionHtml = ({ name, message }: Detection): string =>
  `<p class="ink" style="margin:0 0 14px;font-size:16px;line-height:1.45;${INK};${PRE};${WRAP}">` +
  `<strong>${escapeHtml(name)}</strong><br>${lines(message || 'fired, without a message')}</p>`;

const NAMES_LIMIT = 300;

const heading = ({ severity, protocol, detections, notice }: Content): string => {
  const names = shorten(detections.map((detection) => detection.name).join(', '), NAMES_LIMIT);
  return [
    headingHtml(severity, protocol),
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

const factsHtml = (facts: readonly Fact[]): string =>
  facts.length === 0 ? '' : `<dl style="margin:0">\n${facts.map(factHtml).join('\n')}\n</dl>`;

/** Facts that come before the findings. */
export const LEADING = new Set(['Transaction', 'Chain', 'Protocols']);

/** The transaction comes right below the heading; the other facts come after the findings. */
const sections = (content: Content): string[] => [
  factsHtml(content.facts.filter(({ label }) => LEADING.has(label))),
  findings(content),
  factsHtml(content.facts.filter(({ label }) => !LEADING.has(label))),
];

/** A whole HTML document. `footer` is plain text under the card. */
export const renderHtml = (content: Content, subject: string, footer: string): string =>
  pageHtml({ severity: content.severity, subject, footer, sections: [heading(content), ...sections(content)] });
