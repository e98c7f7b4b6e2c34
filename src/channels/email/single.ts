/** One incident as the parts of a mail: a text that is complete by itself, and the same as HTML. */
import type { Alert } from '../../alert.ts';
import { cleanLine, escapeHtml, quotedName, shorten } from '../../text.ts';
import type { Format } from '../channel.ts';
import {
  type Content,
  type Detection,
  type Fact,
  INDISPENSABLE,
  type Line,
  lineText,
  noticesOf,
  type Piece,
} from '../content/content.ts';
import { shortenHex } from '../content/foreign.ts';
import { firstLine, ownTitled } from '../content/heading.ts';
import { type DigestFile, detectionText } from '../digest-content.ts';
import { wholeFile } from '../whole.ts';
import { type Bounded, boundedOf, joined, type MailParts, paragraphs, quoted, wrap } from './body.ts';
import {
  buttonHtml,
  headingHtml,
  INK,
  LINK,
  lines,
  MONO,
  MUTED,
  noticeHtml,
  PRE,
  pageHtml,
  quoteHtml,
  smallHtml,
  WRAP,
} from './page.ts';

const linkHtml = (html: string, url: string): string =>
  `<a class="link" href="${escapeHtml(url)}" style="${LINK};text-decoration:underline">${html}</a>`;

const pieceHtml = ({ text, code, url }: Piece): string => {
  const shown = escapeHtml(text);
  if (url !== undefined) return linkHtml(shown, url);
  return code ? `<span style="font-family:${MONO};font-size:14px">${shown}</span>` : shown;
};

const LINE = `margin:0 0 4px;font-size:15px;line-height:1.45;${INK};${WRAP}`;

const lineHtml = (line: Line): string => `<p class="ink" style="${LINE}">${line.map(pieceHtml).join('')}</p>`;

/** Between paragraphs of ours. */
const GAP = '<div style="height:10px;line-height:10px;font-size:1px"></div>';

const spaced = (html: string): string => (html === '' ? '' : `<div style="margin:14px 0 0">\n${html}\n</div>`);

interface Head {
  label: string;
  title: string;
  /** Of an announcement: its lines without the title. */
  rest: readonly Line[];
}

/** The first line of an announcement says what is wrong: it is its title, unless several announcements are one mail. */
const announced = ({ message = '', messageLines, happened, title, isTitled, sign, word }: Content): Head => {
  const [first = [], ...rest] = messageLines ?? message.split('\n').map((text) => [{ text }]);
  const label = `${sign} ${word}`;
  const isTitle = firstLine(lineText(first)) === happened;
  if (!isTitled && isTitle) return { label, title: lineText(first), rest };
  return { label, title: isTitled ? title : title.slice(sign.length).trim(), rest: [first, ...rest] };
};

const headOf = (content: Content): Head => {
  const { prefix, sign, word, where, title, isTitled, isOurs } = content;
  if (isOurs) return announced(content);
  return {
    label: [prefix, sign, word].filter((part) => part !== undefined).join(' '),
    title: isTitled ? title : where,
    rest: [],
  };
};

const detectionHtml = ({ name, message, between = '' }: Detection): string =>
  `<strong>${escapeHtml(name)}</strong>${message === '' ? '' : `${between || '<br>'}${escapeHtml(message)}`}`;

/** Each detector stands for itself; those of several protocols are read as one. */
const foundHtml = ({ detections, protocols }: Content): string[] => {
  const found = detections.map(detectionHtml);
  return (protocols === undefined ? found : [found.join('<br>')]).map(quoteHtml);
};

/** Lines of ours; an empty one parts what they say, but for the first. */
const ownHtml = (lines: readonly Line[]): string => {
  const shown = lineText(lines[0] ?? []) === '' ? lines.slice(1) : lines;
  return spaced(shown.map((line) => (lineText(line) === '' ? GAP : lineHtml(line))).join('\n'));
};

const happenedHtml = (bounded: Bounded, { rest }: Head): string => {
  const { message, isOurs } = bounded.content;
  const foreign = message === undefined || isOurs ? [] : [quoteHtml(`<span style="${PRE}">${lines(message)}</span>`)];
  const said = [...foundHtml(bounded.content), smallHtml(bounded.more, '8px 0 0')];
  return joined([ownHtml(rest), ...foreign, ...said]);
};

/** One touch or click takes the value whole, and nothing beside it. */
const VALUE = '-webkit-user-select:all;user-select:all';

const valueHtml = ({ value, code, url, isHeading }: Fact): string => {
  if (isHeading) return `<strong>${escapeHtml(value)}</strong>`;
  const style = code ? ` style="font-family:${MONO};${VALUE}"` : '';
  const shown = `<span${style}>${escapeHtml(value)}</span>`;
  return url === undefined ? shown : linkHtml(shown, url);
};

const DETAIL = `font-size:13px;line-height:1.4;${INK};${WRAP}`;

/** Short, as there may be many: some mail programs cut a mail beyond about 100 kB. */
const factHtml = (fact: Fact): string =>
  `<dt class="muted" style="${MUTED}">${escapeHtml(fact.label)}</dt>
<dd style="margin:0 0 8px">${valueHtml(fact)}${fact.note === undefined ? '' : `<br><span class="muted" style="${MUTED}">${escapeHtml(fact.note)}</span>`}</dd>`;

const wholeHtml = ({ name, message }: Detection): string =>
  `<blockquote class="quote ink" style="margin:0 0 8px;padding:6px 10px;border-left:4px solid #98a2b3;background:#f6f7f9;${DETAIL};${PRE}">` +
  `<strong>${escapeHtml(name)}</strong>${message === '' ? '' : `, in full:<br>${lines(message)}`}</blockquote>`;

const detailsHtml = ({ content: { details }, whole }: Bounded): string =>
  details.length === 0
    ? ''
    : [
        `<h2 class="muted" style="margin:0 0 8px;font-size:13px;line-height:1.4;font-weight:700;${MUTED}">Details</h2>`,
        `<dl class="ink" style="margin:0;${DETAIL}">\n${details.map(factHtml).join('\n')}\n</dl>`,
        ...whole.map(wholeHtml),
      ].join('\n');

const newsOf = ({ said, notice = '', detections, isFollowUp }: Content): string => {
  if (isFollowUp) return notice;
  const all = detections
    .map(({ name, message, between }) => (between === undefined ? message || name : `${name}: ${message}`))
    .join(' · ');
  return all === '' ? `${said} ${notice}` : quotedName(all);
};

/** What happened, in words: how bad it is, and where, stands in the subject beside it. */
const preheaderOf = (content: Content, { rest }: Head): string => {
  const { happened, notice = '', isOurs } = content;
  const ours = rest.map(lineText).join(' ').trim() || happened;
  return shortenHex(cleanLine(isOurs ? `${ours} ${notice}` : newsOf(content)));
};

/** A whole HTML document. `footer` is plain text under the card. */
const singleHtml = (bounded: Bounded, subject: string, footer: string): string => {
  const { content } = bounded;
  const { tone, lines: who, times, links } = content;
  const { above, below } = noticesOf(content);
  const head = headOf(content);
  const first = [
    headingHtml(tone, head.label, head.title),
    ...above.map(noticeHtml),
    happenedHtml(bounded, head),
    ...below.map(noticeHtml),
    spaced(who.map(lineHtml).join('\n')),
    smallHtml(times.map(pieceHtml).join(''), '10px 0 0'),
    spaced(links.map(({ label: text, url }) => buttonHtml(text, url)).join('\n')),
  ];
  return pageHtml({
    ...{ tone, subject, footer, preheader: preheaderOf(content, head) },
    sections: [joined(first), detailsHtml(bounded)],
  });
};

/** Where a line of ours ends in a transaction, its link in full: the hash is in it. */
const linked = ({ message = '', messageLines = [] }: Content): string =>
  message
    .split('\n')
    .map((line, index) => {
      const { copy, url } = messageLines[index]?.at(-1) ?? {};
      const isNamed = copy !== undefined && url?.includes(copy) && line.endsWith(copy);
      return isNamed ? `${line.slice(0, -copy.length)}${url}` : line;
    })
    .join('\n');

const happenedText = (bounded: Bounded): string => {
  const { detections, protocols, message, isOurs } = bounded.content;
  // A command of ours has to be copied whole: its line is not broken.
  if (message !== undefined) return isOurs ? linked(bounded.content) : quoted(message);
  const said = detections.map(detectionText).join(protocols === undefined ? '\n\n' : '\n');
  return joined([said === '' ? '' : quoted(said), bounded.more], '\n\n');
};

/** The value ends its line, so that it can be copied alone. A link that stands above is not said again. */
const factText = ({ label, value, note, url }: Fact, links: Content['links']): string =>
  [
    `${label}: ${value}`,
    ...(note === undefined ? [] : [`  ${note}`]),
    ...(url === undefined || links.some((link) => link.url === url) ? [] : [`  ${url}`]),
  ].join('\n');

const wholeText = ({ name, message }: Detection): string =>
  message === '' ? quoted(name) : quoted(`${name}, in full:\n${message}`);

const plainText = (whole: Bounded, footer: string): string => {
  const bounded = { ...whole, content: ownTitled(whole.content) };
  const { title, lines, times, links, details } = bounded.content;
  const { above, below } = noticesOf(bounded.content);
  return paragraphs(
    title,
    ...above.map(wrap),
    happenedText(bounded),
    ...below.map(wrap),
    lines.map(lineText).join('\n'),
    lineText(times),
    links.map(({ label, url }) => `${label}: ${url}`).join('\n'),
    details.length === 0 ? '' : `Details\n\n${details.map((fact) => factText(fact, links)).join('\n')}`,
    ...bounded.whole.map(wholeText),
    footer,
  );
};

const minimalText = ({ title, notice = '', isOurs, message = '', details }: Content, footer: string): string =>
  paragraphs(
    title,
    isOurs ? message : '',
    notice,
    details
      .filter(({ label }) => INDISPENSABLE.has(label))
      .map(({ label, value }) => `${label}: ${value}`)
      .join('\n'),
    footer,
  );

/** Some mail programs cut a mail beyond about 100 kB, and nobody reads so much of one: the rest is in an attached file. */
const MESSAGE_LIMIT = 30_000;
const MESSAGE_BESIDE = 4000;

/** With the beginning of a long text from outside, and a file that has all of it. */
const besideFile = (content: Content, alerts: readonly Alert[]): { content: Content; file?: DigestFile } => {
  const { message = '', isOurs, notice } = content;
  if (isOurs || message.length <= MESSAGE_LIMIT) return { content };
  const file = wholeFile(content, alerts);
  const where = `The whole text, ${message.length.toLocaleString('en')} characters, is in the attached ${file.name}.`;
  const notices = joined([notice ?? '', where], ' ');
  return { content: { ...content, message: shorten(message, MESSAGE_BESIDE), notice: notices }, file };
};

/** The parts of a mail about one incident. */
export const singleParts = (
  whole: Content,
  alerts: readonly Alert[],
  { subject, footer, format }: { subject: string; footer: string; format: Format },
): MailParts => {
  if (format === 'minimal') return { text: minimalText(boundedOf(whole).content, footer) };
  const { content, file } = besideFile(whole, alerts);
  const bounded = boundedOf(content);
  return {
    text: plainText(bounded, footer),
    ...(format === 'rich' ? { html: singleHtml(bounded, subject, footer) } : {}),
    ...(file === undefined ? {} : { attachments: [{ filename: file.name, content: file.text }] }),
  };
};
