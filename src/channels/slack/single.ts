/** One incident as a Slack message, in each of the three formats. Pure. */
import type { KnownBlock, SectionBlock } from '@slack/types';
import type { Alert } from '../../alert.ts';
import type { Sliced } from '../../slices.ts';
import { cleanLine, shorten } from '../../text.ts';
import type { ComposeContext } from '../channel.ts';
import { type Content, type Detection, detectionText, type Fact } from '../content.ts';
import { describeIncident } from '../incident-content.ts';
import type { SlackBody } from './body.ts';
import {
  beginning,
  columns,
  context,
  escapeSlack,
  fits,
  LIMITS,
  labelled,
  labelledLink,
  section,
  type Text,
  titleBlock,
} from './markup.ts';

/** Slack cuts at 40,000 characters. */
const TEXT_LIMIT = 39_000;
const PUSH_LIMIT = 300;
/** Longer values, and longer words in them, are hard to read in two columns. */
const COLUMN = { value: 100, word: 50 };

const factText = ({ label, value, items, url }: Fact): Text =>
  url === undefined ? labelled(label, items?.join('\n') ?? value) : labelledLink(label, url, value);

const detectionBlock = ({ name, message }: Detection): SectionBlock => section(labelled(name, message));

const isWide = ({ value, items = [value] }: Fact): boolean =>
  items.some((line) => line.length > COLUMN.value || line.split(' ').some((word) => word.length > COLUMN.word));

/** Long facts, like the transaction's hash, get the whole width; the others stand in two columns. */
const factBlocks = (facts: readonly Fact[]): SectionBlock[] => {
  const wide = facts.filter(isWide).map((fact) => section(factText(fact)));
  const narrow = facts.filter((fact) => !isWide(fact)).map(factText);
  return [...wide, ...columns(narrow)];
};

const blocksOf = ({ title, notice, detections, message, facts }: Content): KnownBlock[] => [
  titleBlock(title),
  ...(notice === undefined ? [] : [context(notice)]),
  ...detections.map(detectionBlock),
  ...(message === undefined ? [] : [section(message)]),
  ...factBlocks(facts),
];

const NOTE_ROOM = 100;

/** Escapes the lines. Of a text that is too long it keeps the beginning, and says how much is missing. */
const textWithin = (lines: readonly string[]): string => {
  const whole = lines.join('\n');
  const escaped = escapeSlack(whole);
  if (escaped.length <= TEXT_LIMIT) return escaped;
  const kept = beginning(whole, TEXT_LIMIT - NOTE_ROOM);
  return `${escapeSlack(kept)}…\n(${whole.length - kept.length} characters left out)`;
};

const factLines = ({ label, value, url }: Fact): string[] => [
  `${label}: ${shorten(value, LIMITS.section)}`,
  ...(url === undefined ? [] : [url]),
];

/** Texts that may be long come last, so that they are what is cut. */
const plainBody = ({ headline, notice, detections, message, facts }: Content): SlackBody => ({
  text: textWithin([
    shorten(headline, LIMITS.section),
    ...(notice === undefined ? [] : [notice]),
    ...facts.flatMap(factLines),
    ...detections.map(detectionText),
    ...(message === undefined ? [] : [message]),
  ]),
  mrkdwn: false,
});

/** The first fact is the transaction (or when it was stored), the last the item's id. */
const minimalBody = ({ headline, facts }: Content): SlackBody => ({
  text: textWithin([
    shorten(headline, PUSH_LIMIT),
    ...[...facts.slice(0, 1), ...facts.slice(-1)].map(({ label, value }) => `${label}: ${shorten(value, PUSH_LIMIT)}`),
    'Slack refused the full message. Look it up by this id at the monitoring service, or with: tocsin trace ID',
  ]),
  mrkdwn: false,
});

/** What a locked phone shows: the headline and what the first detector said. */
const pushText = ({ headline, detections }: Content): string => {
  const said = cleanLine(detections[0]?.message ?? '');
  return escapeSlack(shorten(said === '' ? headline : `${headline}: ${said}`, PUSH_LIMIT));
};

const richBody = (content: Content): SlackBody => {
  const blocks = blocksOf(content);
  return fits(blocks) ? { text: pushText(content), blocks } : plainBody(content);
};

const BODIES = { rich: richBody, plain: plainBody, minimal: minimalBody };

/** `alerts`: of one incident. */
export function* singleBody(alerts: readonly Alert[], { format, chains, sentAt }: ComposeContext): Sliced<SlackBody> {
  return BODIES[format](yield* describeIncident(alerts, chains, sentAt));
}
