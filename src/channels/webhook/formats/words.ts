/** What people read of an alert in a tool that takes plain text: no markup, each part with a bound. */
import type { Alert } from '../../../alert.ts';
import { quotedLines, shorten } from '../../../text.ts';
import type { ComposeContext } from '../../channel.ts';
import { type Content, type Fact, lineText, noticesOf } from '../../content/content.ts';
import { detectionText } from '../../digest-content.ts';
import { type Outline, outlineOf } from './outline.ts';

const PART_LIMIT = 4000;
const VALUE_LIMIT = 1000;

export interface Words {
  /** Several lines, in the order of every message: what happened, why it comes in an unusual way, who and what. */
  text: string;
  /** Label and value; labels may repeat. */
  details: readonly (readonly [label: string, value: string])[];
}

const textOf = (content: Content): string => {
  const { detections, message, isOurs, lines, times } = content;
  const { above, below } = noticesOf(content);
  const said = message === undefined ? '' : shorten(message, PART_LIMIT);
  return [
    ...above,
    ...detections.map((detection) => quotedLines(shorten(detectionText(detection), PART_LIMIT))),
    ...(said === '' ? [] : [isOurs ? said : quotedLines(said)]),
    ...below,
    ...[...lines, times].map(lineText).filter((line) => line !== ''),
  ].join('\n');
};

const detailOf = ({ label, value, note }: Fact): readonly [string, string] => [
  label,
  shorten(note === undefined ? value : `${value} (${note})`, VALUE_LIMIT),
];

/** Everything that a tool for people on call is told of an alert. */
export const outlineAndWords = (alert: Alert, context: ComposeContext): { outline: Outline; words: Words } => {
  const { outline, content } = outlineOf(alert, context);
  const links = content.links.map(({ label, url }) => [`Link: ${label}`, url] as const);
  return { outline, words: { text: textOf(content), details: [...links, ...content.details.map(detailOf)] } };
};

/** As many as fit into `size` UTF-16 units, in their order; `Contract`, `Contract 2` ... where a label repeats. */
export const detailsWithin = (details: Words['details'], size: number): Record<string, string> => {
  const some: Record<string, string> = {};
  const counts = new Map<string, number>();
  let left = size;
  for (const [label, value] of details) {
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    const key = count === 1 ? label : `${label} ${count}`;
    left -= key.length + value.length;
    if (left < 0) break;
    some[key] = value;
  }
  return some;
};
