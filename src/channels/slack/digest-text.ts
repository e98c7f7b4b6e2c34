/** Many alerts as texts alone, shown as they stand: for a channel without files, and after a refusal. Pure. */
import type { Alert } from '../../alert.ts';
import { chunksOf } from '../../chunks.ts';
import type { Format } from '../channel.ts';
import { type CountTable, type DigestContent, type DigestItem, nameOf, topOf } from '../digest-content.ts';
import { itemLine } from '../digest-file.ts';
import { incidentsOf } from '../incidents.ts';
import type { SlackBody } from './body.ts';
import { beginning, escapeSlack, fitted } from './markup.ts';

/** What is to be told of some alerts. */
export type Describe = (alerts: readonly Alert[]) => DigestContent;

const ROWS_MAX = 8;
const ROW_LIMIT = 160;
const LINE_LIMIT = 300;
/** Slack cuts a text at 40,000 characters. */
const TEXT_LIMIT = 39_000;
const HEAD_LIMIT = 7000;
/** No single item is longer than a text holds below its head. */
const ITEM_LIMIT = 31_000;
const NOTE_ROOM = 40;
/** So many usual lines fit into a text. */
const ITEMS_MAX = 300;

/** `80  flashLoan`, the most first. */
export const rowsOf = (table: CountTable): string[] => {
  const { rows, more } = topOf(table, ROWS_MAX);
  return [
    ...rows.map(({ name, count }) => fitted(`${count}  ${name}`, ROW_LIMIT)),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
};

/** An item in a list: a line, and the whole text of a stored notification. */
export const lineOf = (item: DigestItem): string => {
  const line = fitted(itemLine(item), LINE_LIMIT);
  return item.message === undefined ? line : `${line}: ${item.message}`;
};

const boundLine = (line: string): string => {
  const kept = beginning(line, ITEM_LIMIT - NOTE_ROOM);
  return kept === line ? line : `${kept}… (${line.length - kept.length} characters left out)`;
};

const headLines = ({ title, span, why, notice, tables }: DigestContent): string[] => [
  title,
  `${span}. ${why}`,
  ...(notice === undefined ? [] : [notice]),
  ...tables.map((table) => `${table.title}: ${rowsOf(table).join(', ')}`),
];

/** Minimal: nothing but the hashes. */
const textBody = (content: DigestContent, format: Format): SlackBody => {
  const minimal = format === 'minimal';
  const head = minimal ? content.title : fitted(headLines(content).join('\n'), HEAD_LIMIT);
  const list = content.items.map((item) => (minimal ? nameOf(item) : boundLine(lineOf(item))));
  const lines = [head, '', 'All of them, the worst first:', ...list, '', `More about each: ${content.command}`];
  return { text: escapeSlack(lines.join('\n')), mrkdwn: false };
};

/** A message of a digest, and the alerts that it tells. */
export interface DigestPart {
  told: readonly Alert[];
  body: SlackBody;
}

/** Incidents as one text; as the two halves of them where it is too long. */
const textsOf = (incidents: readonly Alert[][], describe: Describe, format: Format): DigestPart[] => {
  const told = incidents.flat();
  const body = textBody(describe(told), format);
  if (body.text.length <= TEXT_LIMIT || incidents.length === 1) return [{ told, body }];
  const half = Math.ceil(incidents.length / 2);
  return [incidents.slice(0, half), incidents.slice(half)].flatMap((part) => textsOf(part, describe, format));
};

/**
 * As few texts as hold every hash, each a digest of its own: any of them can be missing from a retry, and those behind it
 * stay as they were.
 */
export const digestTexts = (alerts: readonly Alert[], describe: Describe, format: Format): DigestPart[] => {
  return chunksOf(incidentsOf(alerts), ITEMS_MAX).flatMap((incidents) => textsOf(incidents, describe, format));
};
