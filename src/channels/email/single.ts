/** One incident as the parts of a mail: a text that is complete by itself, and the same as HTML. */
import type { Format } from '../channel.ts';
import { type Content, type Detection, type Fact, lineText, noticesOf } from '../content/content.ts';
import { ownTitled } from '../content/own-title.ts';
import { moreText } from '../content/said.ts';
import { detectionText } from '../digest-content.ts';
import type { MailParts } from './body.ts';
import { type Bounded, boundedOf } from './bounds.ts';
import { singleHtml } from './html.ts';
import { paragraphs, quoted, wrap } from './wrap.ts';

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
  const { detections, message, isOurs } = bounded.content;
  // A command of ours has to be copied whole: its line is not broken.
  if (message !== undefined) return isOurs ? linked(bounded.content) : quoted(message);
  const said = detections.map(detectionText).join('\n\n');
  return [said === '' ? '' : quoted(said), moreText(bounded)].filter((part) => part !== '').join('\n\n');
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

const MINIMAL = new Set(['Transaction', 'Sent', 'Inspection', 'Notification']);

const minimalText = ({ title, notice = '', isOurs, message = '', details }: Content, footer: string): string =>
  paragraphs(
    title,
    isOurs ? message : '',
    notice,
    details
      .filter(({ label }) => MINIMAL.has(label))
      .map(({ label, value }) => `${label}: ${value}`)
      .join('\n'),
    footer,
  );

/** The parts of a mail about one incident. */
export const singleParts = (whole: Content, subject: string, footer: string, format: Format): MailParts => {
  const bounded = boundedOf(whole);
  switch (format) {
    case 'rich':
      return { text: plainText(bounded, footer), html: singleHtml(bounded, subject, footer) };
    case 'plain':
      return { text: plainText(bounded, footer) };
    case 'minimal':
      return { text: minimalText(bounded.content, footer) };
  }
};
