/** Many alerts as texts alone, shown as they stand: for a channel without files, and after a refusal. Pure. */
import type { Alert } from '../../alert.ts';
import type { Format } from '../channel.ts';
import { type CountTable, type DigestContent, type DigestItem, nameOf, topOf } from '../digest.ts';
import { itemLine } from '../digest-file.ts';
import { incidentsOf } from '../incidents.ts';
import { beginning, escapeSlack, fitted } from './markup.ts';
import type { SlackBody } from './message.ts';

const ROWS_MAX = 8;
const ROW_LIMIT = 160;
const LINE_LIMIT = 300;
/** Slack cuts a text at 40,000 characters. Together with what stands between them, head and list stay below. */
const HEAD_ROOM = 7000;
const LIST_ROOM = 31_000;
const NOTE_ROOM = 40;

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

/** No single item is longer than a text holds. */
const boundLine = (line: string): string => {
  const kept = beginning(line, LIST_ROOM - NOTE_ROOM);
  return kept === line ? line : `${kept}… (${line.length - kept.length} characters left out)`;
};

const headLines = ({ title, span, why, notice, tables }: DigestContent): string[] => [
  title,
  `${span}. ${why}`,
  ...(notice === undefined ? [] : [notice]),
  ...tables.map((table) => `${table.title}: ${rowsOf(table).join(', ')}`),
];

/** Minimal: nothing but the hashes. */
export const textBody = (content: DigestContent, format: Format): SlackBody => {
  const minimal = format === 'minimal';
  const head = minimal ? content.title : fitted(headLines(content).join('\n'), HEAD_ROOM);
  const list = content.items.map((item) => (minimal ? nameOf(item) : boundLine(lineOf(item))));
  const lines = [head, '', 'All of them, the worst first:', ...list, '', `More about each: ${content.command}`];
  return { text: escapeSlack(lines.join('\n')), mrkdwn: false };
};

/** Alerts in parts whose lists fit into a text each; `describe` tells of the alerts of one incident. */
export const partsOf = (alerts: readonly Alert[], describe: (alerts: readonly Alert[]) => DigestContent): Alert[][] => {
  const parts: Alert[][] = [];
  let room = 0;
  for (const incident of incidentsOf(alerts)) {
    const lines = describe(incident).items.map((item) => boundLine(lineOf(item)));
    const size = lines.reduce((sum, line) => sum + escapeSlack(line).length + 1, 0);
    if (size > room) {
      parts.push([]);
      room = LIST_ROOM;
    }
    parts.at(-1)?.push(...incident);
    room -= size;
  }
  return parts;
};
