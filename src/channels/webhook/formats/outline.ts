/** What every format tells programs of an alert besides the item itself: short, and read from the item leniently. */
import type { Alert } from '../../../alert.ts';
import { quotedLines, shorten } from '../../../text.ts';
import type { ComposeContext } from '../../channel.ts';
import { type Content, type Fact, lineText, noticesOf } from '../../content/content.ts';
import { contentOf, describe } from '../../content/describe.ts';
import { type Finding, findingOf } from '../../content/finding.ts';
import { headingOf } from '../../content/heading.ts';
import { readInspection, type Wording, wordingOf } from '../../content/reading.ts';
import { detectionText } from '../../digest-content.ts';
import { type EventSeverity, severityOf } from './event.ts';

const SUMMARY_LIMIT = 1000;
/** Of a list, where everything has to be short. */
const FEW_MAX = 20;
const SHORT_LIMIT = 100;

export interface Outline {
  /** One line of plain text: where, and what happened. */
  summary: string;
  severity: EventSeverity;
  /** Ids of the detectors that fired, as the service spells them. */
  detectors: string[];
  /** Absent where the item names none. `name`: absent where nobody knows the chain. */
  chain: Finding['chain'];
  links: { transaction: string | undefined; origin: string | undefined; contracts: string[] | undefined };
}

/** Without the sign: programs sort, compare and speak it. */
const summaryOf = ({ word, where, said }: Pick<Content, 'word' | 'where' | 'said'>): string =>
  shorten(`${word} · ${where}: ${said}`, SUMMARY_LIMIT);

const linksOf = ({ transaction, origins, contracts }: Finding): Outline['links'] => {
  const [origin] = origins.flatMap(({ url }) => url ?? []);
  const touched = [...new Set(contracts.flatMap(({ at }) => at?.url ?? []))];
  return { transaction: transaction?.url, origin, contracts: touched.length === 0 ? undefined : touched };
};

/** `content` gives what people read. A stored notification may name a transaction and its chain, too. */
const read = (alert: Alert, wording: Wording) => {
  if (alert.source === 'notifications') {
    const heading = describe(alert, wording);
    return { heading, content: () => heading, finding: findingOf(alert, wording.presentation.chains), detectors: [] };
  }
  const reading = readInspection(alert, wording);
  const { finding, detections } = reading;
  const heading = headingOf(reading, wording.presentation);
  return { heading, content: () => contentOf(reading, wording), finding, detectors: detections.map(({ id }) => id) };
};

/** `content` gives what people read, of which most programs get the heading only. */
export const outlineOf = (alert: Alert, context: ComposeContext): { outline: Outline; content(): Content } => {
  const { heading, content, finding, detectors } = read(alert, wordingOf(context));
  const { chain } = finding;
  const outline: Outline = {
    summary: summaryOf(heading),
    severity: severityOf(alert),
    detectors,
    chain: chain && { ...chain, id: shorten(chain.id, SHORT_LIMIT) },
    links: linksOf(finding),
  };
  return { outline, content };
};

/** The same for a receiver that refused the whole: with the beginnings of its lists. */
export const shortOutline = ({ detectors, links, ...outline }: Outline): Outline => ({
  ...outline,
  detectors: detectors.slice(0, FEW_MAX).map((name) => shorten(name, SHORT_LIMIT)),
  links: { ...links, contracts: links.contracts?.slice(0, FEW_MAX) },
});

// What people read of an alert in a tool that takes plain text: no markup, each part with a bound.

const PART_LIMIT = 4000;
const VALUE_LIMIT = 1000;

interface Words {
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

/** Everything that a tool for people on call gets of an alert. */
export interface Briefing {
  alert: Alert;
  outline: Outline;
  content: Content;
  words: Words;
}

export const briefingOf = (alert: Alert, context: ComposeContext): Briefing => {
  const { outline, content: whole } = outlineOf(alert, context);
  const content = whole();
  const links = content.links.map(({ label, url }) => [`Link: ${label}`, url] as const);
  return {
    alert,
    outline,
    content,
    words: { text: textOf(content), details: [...links, ...content.details.map(detailOf)] },
  };
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
