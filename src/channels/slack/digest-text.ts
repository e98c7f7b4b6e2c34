/** Many alerts as plain texts: for a channel without files, and after a refusal. Pure. */
import type { Alert } from '../../alert.ts';
import { chunksOf } from '../../chunks.ts';
import type { Sliced } from '../../slices.ts';
import { quotedLines, shortenAddresses } from '../../text.ts';
import type { Format } from '../channel.ts';
import { type CountTable, type DigestContent, type DigestItem, nameOf, topOf } from '../digest-content.ts';
import { itemLine } from '../digest-file.ts';
import { incidentsOf } from '../incidents.ts';
import type { SlackBody } from './body.ts';
import { beginning, escapeSlack, fitted } from './markup.ts';

/** The content of a digest of some alerts. */
export type Describe = (alerts: readonly Alert[]) => Sliced<DigestContent>;

const ROWS_MAX = 8;
const ROW_LIMIT = 160;
const LINE_LIMIT = 300;
/** Slack cuts a text at 40,000 characters. */
const TEXT_LIMIT = 39_000;
const HEAD_LIMIT = 7000;
/** The longest item that fits into a text below its head. */
const ITEM_LIMIT = 31_000;
const NOTE_ROOM = 40;
/** About as many usual lines fit into a text. */
const ITEMS_MAX = 300;

/** `80  flashLoan`, the most frequent first. */
export const rowsOf = (table: CountTable): string[] => {
  const { rows, more } = topOf(table, ROWS_MAX);
  return [
    ...rows.map(({ name, count }) => fitted(`${count}  ${name}`, ROW_LIMIT)),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
};

const HEX = { head: 6, tail: 4 };

/** As it is read at a glance. */
export const shortName = (name: string): string => shortenAddresses(name, HEX);

/** An item in a list: one line; of a stored notification also its whole text, quoted, as it comes from outside. */
export const lineOf = (item: DigestItem): string => {
  const line = fitted(itemLine(item), LINE_LIMIT);
  return item.message === undefined ? line : `${line}\n${quotedLines(item.message)}`;
};

const boundLine = (line: string): string => {
  const kept = beginning(line, ITEM_LIMIT - NOTE_ROOM);
  return kept === line ? line : `${kept}… (${line.length - kept.length} characters left out)`;
};

/** The worst, with what happened. */
const WORST = 3;

const worstLines = ({ title, happened }: DigestItem): string[] => [title, quotedLines(happened)];

const headLines = ({ title, items, notice, tables, span, why }: DigestContent): string[] => [
  title,
  ...items.slice(0, WORST).flatMap(worstLines),
  ...(notice === undefined ? [] : [notice]),
  ...tables.map((table) => `${table.title}: ${rowsOf(table).join(', ')}`),
  `${span}. ${why}`,
];

/** Minimal: nothing but the hashes. */
const textBody = (content: DigestContent, format: Format): SlackBody => {
  const minimal = format === 'minimal';
  const head = minimal ? content.title : fitted(headLines(content).join('\n'), HEAD_LIMIT);
  const list = content.items.map((item) => (minimal ? nameOf(item) : boundLine(lineOf(item))));
  const lines = [head, '', 'All of them, the worst first:', ...list, '', `More about each: ${content.command}`];
  return { text: escapeSlack(lines.join('\n')), mrkdwn: false };
};

/** One message of a digest, and the alerts that it is about. */
export interface DigestPart {
  alerts: readonly Alert[];
  body: SlackBody;
}

/** The incidents as one text; if it is too long, as a text for each half of them. */
function* textsOf(incidents: readonly Alert[][], describe: Describe, format: Format): Sliced<DigestPart[]> {
  const alerts = incidents.flat();
  const body = textBody(yield* describe(alerts), format);
  if (body.text.length <= TEXT_LIMIT || incidents.length === 1) return [{ alerts, body }];
  const half = Math.ceil(incidents.length / 2);
  const first = yield* textsOf(incidents.slice(0, half), describe, format);
  return [...first, ...(yield* textsOf(incidents.slice(half), describe, format))];
}

/**
 * As few texts as have room for every hash. Each is a digest of its own, so that a retry without the delivered ones leaves
 * the others as they were.
 */
export function* digestTexts(alerts: readonly Alert[], describe: Describe, format: Format): Sliced<DigestPart[]> {
  const parts: DigestPart[] = [];
  for (const incidents of chunksOf(incidentsOf(alerts), ITEMS_MAX)) {
    parts.push(...(yield* textsOf(incidents, describe, format)));
  }
  return parts;
}
