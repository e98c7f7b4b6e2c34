/** All that a message says as plain text: for a kind that has no markup, and for a file where a message has no room. Pure. */
import type { Alert } from '../alert.ts';
import { contentId } from '../item.ts';
import { cleanLine, quotedLines } from '../text.ts';
import { type Content, type Detection, type Fact, lineText, noticesOf } from './content/content.ts';
import type { DigestFile } from './digest-content.ts';

/** Paragraphs; empty ones are left out. */
export const partsIn = (...parts: string[]): string => parts.filter((part) => part !== '').join('\n\n');

const detectionLine = ({ name, message, between = ' – ' }: Detection): string => {
  const said = cleanLine(message);
  return said === '' ? name : `${name}${between}${said}`;
};

const factLines = ({ label, value, note, url }: Fact): string[] => [
  `${label}: ${value}${note === undefined ? '' : ` (${note})`}`,
  ...(url === undefined ? [] : [url]),
];

/** What was found, in full; of several protocols first in a line for each. */
export const foundIn = ({ protocols, gist, detections }: Content): Detection[] => [
  ...(protocols === undefined ? [] : gist),
  ...detections,
];

/** `happened`: of each detector, or a stored notification; quoted, unless it is ours. */
export const partsOf = (content: Content): { before: string; happened: string[]; after: string } => {
  const { title, message, isOurs, lines, times, links, details } = content;
  const { above, below } = noticesOf(content);
  const said = [...foundIn(content).map(detectionLine), ...(message === undefined ? [] : [message])];
  return {
    before: [title, ...above].join('\n'),
    happened: isOurs ? said : said.map(quotedLines),
    after: partsIn(
      ...below,
      [...lines.map(lineText), lineText(times)].filter((line) => line !== '').join('\n'),
      links.map(({ label, url }) => `${label}: ${url}`).join('\n'),
      details.flatMap(factLines).join('\n'),
    ),
  };
};

const ID_SHOWN = 8;

/** The same alerts have the same. */
const fileName = (alerts: readonly Alert[]): string =>
  `tocsin-alert-${contentId('message', ...alerts.map(({ id }) => id)).slice(0, ID_SHOWN)}.txt`;

/** `tocsin-alert-ID.txt`, with everything. */
export const wholeFile = (content: Content, alerts: readonly Alert[]): DigestFile => {
  const { before, happened, after } = partsOf(content);
  return { name: fileName(alerts), text: `${partsIn(before, happened.join('\n'), after)}\n` };
};
