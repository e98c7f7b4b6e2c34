/** One incident as text alone, which Slack shows as it stands: where blocks have no room for it, and after a refusal. Pure. */
import { cleanLine, quotedLines, shorten } from '../../text.ts';
import { type Content, type Detection, type Fact, fairShares, lineText, noticesOf } from '../content/content.ts';
import type { SlackBody } from './body.ts';
import { beginning, escapeSlack, LIMITS } from './markup.ts';

/** Slack cuts at 40,000 characters. */
const TEXT_LIMIT = 39_000;
const SHORT_LIMIT = 300;
const NOTE_ROOM = 60;

const sizeOf = (text: string): number => escapeSlack(text).length;

/** The beginning of a text, within `room` when it is escaped, and how much is missing; `leftOut`: before. */
const within = (text: string, room: number, leftOut = 0): string => {
  if (leftOut === 0 && sizeOf(text) <= room) return text;
  const kept = beginning(text, Math.max(0, room - NOTE_ROOM));
  return `${kept}… (${leftOut + text.length - kept.length} characters left out)`;
};

const detectionLine = ({ name, message }: Detection): string => {
  const said = cleanLine(message);
  return said === '' ? name : `${name} – ${said}`;
};

const factLines = ({ label, value, note, url }: Fact): string[] => [
  `${label}: ${value}${note === undefined ? '' : ` (${note})`}`,
  ...(url === undefined ? [] : [url]),
];

const paragraph = (lines: readonly string[]): string[] => (lines.length === 0 ? [] : [lines.join('\n')]);

interface Parts {
  before: string;
  /** Of each detector. */
  happened: string[];
  after: string;
}

const partsOf = (content: Content): Parts => {
  const { title, detections, message, isOurs, lines, times, links, details } = content;
  const { above, below } = noticesOf(content);
  const said = [...detections.map(detectionLine), ...(message === undefined ? [] : [message])];
  return {
    before: [shorten(title, LIMITS.section), ...above].join('\n'),
    happened: isOurs ? said : said.map(quotedLines),
    after: [
      ...below,
      ...paragraph([...lines.map(lineText), lineText(times)].filter((line) => line !== '')),
      ...paragraph(links.map(({ label, url }) => `${label}: ${url}`)),
      ...paragraph(details.flatMap(factLines)),
    ].join('\n\n'),
  };
};

const joined = (before: string, happened: readonly string[], after: string): string =>
  [before, happened.join('\n'), after].filter((part) => part !== '').join('\n\n');

/** Everything, for a file. */
export const wholeText = (content: Content): string => {
  const { before, happened, after } = partsOf(content);
  return `${joined(before, happened, after)}\n`;
};

/** What no text of Slack's holds is cut before anything else is done with it. */
const withinReach = (detection: Detection): Detection => {
  const { message, leftOut = 0 } = detection;
  if (message.length <= TEXT_LIMIT) return detection;
  return { ...detection, message: message.slice(0, TEXT_LIMIT), leftOut: leftOut + message.length - TEXT_LIMIT };
};

/** The detectors share the room that the rest leaves: a long one does not push out the others, nor the ids. */
export const plainBody = (content: Content): SlackBody => {
  const detections = content.detections.map(withinReach);
  const { before, happened, after } = partsOf({ ...content, detections });
  const rest = within(after, TEXT_LIMIT / 2);
  const shares = fairShares(happened.map(sizeOf), TEXT_LIMIT - sizeOf(before) - sizeOf(rest) - happened.length - 4);
  const shown = happened.map((text, index) => within(text, shares[index] ?? 0, detections[index]?.leftOut));
  return { text: escapeSlack(joined(before, shown, rest)), mrkdwn: false };
};

/** The first fact is the transaction (or when it was stored), the last the item's id. */
export const minimalBody = ({ headline, details }: Content): SlackBody => {
  const [first] = details;
  const ids = details.filter(({ label }) => label === details.at(-1)?.label);
  const facts = [...(first === undefined || ids.includes(first) ? [] : [first]), ...ids];
  const text = [
    shorten(headline, SHORT_LIMIT),
    ...facts.map(({ label, value }) => `${label}: ${shorten(value, SHORT_LIMIT)}`),
    'Slack refused the full message. Look it up by this id at the monitoring service, or with: tocsin trace ID',
  ].join('\n');
  return { text: escapeSlack(within(text, TEXT_LIMIT)), mrkdwn: false };
};
