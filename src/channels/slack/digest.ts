/** Many alerts as one Slack message with a file, or as few messages as hold every transaction hash. Pure. */
import type { KnownBlock } from '@slack/types';
import type { Alert } from '../../alert.ts';
import type { ComposeContext } from '../channel.ts';
import { type CountTable, type DigestContent, type DigestItem, describeDigest, nameOf, topOf } from '../digest.ts';
import { digestFile, itemLine } from '../digest-file.ts';
import { incidentsOf } from '../incidents.ts';
import { cleanLine } from '../text.ts';
import {
  code,
  context,
  escapeSlack,
  fits,
  fitted,
  formatted,
  LIMITS,
  labelled,
  link,
  plain,
  section,
  type Text,
  titleBlock,
} from './markup.ts';
import type { SlackBody } from './message.ts';

/** A message of a digest, and the alerts that it tells. */
export interface DigestPart {
  told: readonly Alert[];
  body: SlackBody;
}

const PUSH_LIMIT = 300;
const NOTICE_LIMIT = 1500;
const ROWS_MAX = 8;
const ROW_LIMIT = 160;
const HEADLINE_LIMIT = 400;
const SAID_LIMIT = 300;
/** Those that are told at length, in a message with room and in one without. */
const WORST_MAX = [6, 3] as const;
/** A longer list is searched, not read: where a file can go along, it goes there. */
const LIST_MAX = 40;

const rowsOf = (table: CountTable): string[] => {
  const { rows, more } = topOf(table, ROWS_MAX);
  return [
    ...rows.map(({ name, count }) => fitted(`${count}  ${name}`, ROW_LIMIT)),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
};

const tableText = (table: CountTable): Text => labelled(table.title, rowsOf(table).join('\n'));

const headBlocks = ({ title, span, why, notice, tables }: DigestContent): KnownBlock[] => {
  const [first, second, ...wide] = tables;
  const narrow = [first, second].flatMap((table) => (table ? [tableText(table)] : []));
  return [
    titleBlock(title),
    context(plain(`${span}. ${why}`)),
    ...(notice === undefined ? [] : [context(plain(fitted(notice, NOTICE_LIMIT)))]),
    ...(narrow.length > 0 ? [{ type: 'section' as const, fields: narrow }] : []),
    ...wide.map((table) => section(tableText(table))),
    { type: 'divider' },
  ];
};

const saidBy = ({ detections, message = '' }: DigestItem): string => {
  const said = detections.find((detection) => detection.message !== '');
  return fitted(cleanLine(said === undefined ? message : `${said.name}: ${said.message}`), SAID_LIMIT);
};

const itemBlocks = (item: DigestItem): KnownBlock[] => {
  const { url, hash, chain, time } = item;
  const name =
    url === undefined || hash === undefined ? plain(fitted(nameOf(item), ROW_LIMIT)) : formatted(link(url, hash));
  const where = fitted([chain, time].filter((part) => part !== undefined).join(', '), ROW_LIMIT);
  return [section(labelled(fitted(item.headline, HEADLINE_LIMIT), saidBy(item))), context(name, plain(where))];
};

/** A line of a list; a notification without a transaction is known by what it says. */
const lineOf = (item: DigestItem): string =>
  fitted(item.hash === undefined ? `${item.ids} ${item.headline}` : itemLine(item), SAID_LIMIT);

const FENCE_ROOM = 10;

/** Lines in as few groups as hold them, each within `limit` once it is escaped. */
const groupsOf = (lines: readonly string[], limit: number): string[][] => {
  const groups: string[][] = [];
  let left = 0;
  for (const line of lines) {
    const size = escapeSlack(line).length + 1;
    if (size > left) {
      groups.push([]);
      left = limit;
    }
    groups.at(-1)?.push(line);
    left -= size;
  }
  return groups;
};

const listBlocks = (items: readonly DigestItem[]): KnownBlock[] => {
  if (items.length === 0) return [];
  const groups = groupsOf(items.map(lineOf), LIMITS.section - FENCE_ROOM);
  return [
    section(labelled(`The other ${items.length}`, '')),
    ...groups.map((lines) => section(code(lines.join('\n')))),
  ];
};

const toldBlocks = ({ items }: DigestContent, worst: number): KnownBlock[] => {
  const told = items.slice(0, worst).flatMap(itemBlocks);
  return told.length > 0 && items.length > worst ? [section(labelled('The worst', '')), ...told] : told;
};

/** The blocks with as many told at length as leave room for the rest; undefined where there is no room at all. */
const roomiest = (
  content: DigestContent,
  rest: (shown: number) => KnownBlock[],
  choices: readonly number[],
): KnownBlock[] | undefined =>
  choices
    .map((worst) => [...headBlocks(content), ...toldBlocks(content, worst), ...rest(worst)])
    .find((blocks) => fits(blocks));

const pushText = ({ headline }: DigestContent): string => escapeSlack(fitted(headline, PUSH_LIMIT));

/** Every item in the message itself; undefined where there is no room. */
const wholeBody = (content: DigestContent): SlackBody | undefined => {
  const blocks = roomiest(content, (shown) => listBlocks(content.items.slice(shown)), WORST_MAX);
  return blocks && { text: pushText(content), blocks };
};

const bodyWithFile = (content: DigestContent): SlackBody | undefined => {
  const file = digestFile(content);
  const where = `All ${content.alerts}, each with its hash, are in a file in this message's thread: ${file.name}`;
  const blocks = roomiest(content, () => [context(plain(where))], [...WORST_MAX, 0]);
  return blocks && { text: pushText(content), blocks, file };
};

const richBody = (content: DigestContent, mayAttach: boolean): SlackBody | undefined => {
  const whole = mayAttach && content.items.length > LIST_MAX ? undefined : wholeBody(content);
  return whole ?? (mayAttach ? bodyWithFile(content) : undefined);
};

/** Slack cuts a text at 40,000 characters. Together with what stands between them, head and list stay below. */
const HEAD_ROOM = 7000;
const LIST_ROOM = 31_000;

const tableLine = (table: CountTable): string => `${table.title}: ${rowsOf(table).join(', ')}`;

const headLines = ({ title, span, why, notice, tables }: DigestContent): string[] => [
  title,
  `${span}. ${why}`,
  ...(notice === undefined ? [] : [notice]),
  ...tables.map(tableLine),
];

/** The text alone, shown as it stands. Minimal: nothing but the hashes. */
const textBody = (content: DigestContent, format: ComposeContext['format']): SlackBody => {
  const minimal = format === 'minimal';
  const head = minimal ? content.title : fitted(headLines(content).join('\n'), HEAD_ROOM);
  const list = content.items.map((item) => fitted(minimal ? nameOf(item) : lineOf(item), SAID_LIMIT));
  const lines = [head, '', 'All of them, the worst first:', ...list, '', `More about each: ${content.command}`];
  return { text: escapeSlack(lines.join('\n')), mrkdwn: false };
};

/** Incidents in even parts, so that the lines of each fit into one text. */
const partsOf = (alerts: readonly Alert[], { items }: DigestContent): Alert[][] => {
  const longest = items.reduce((most, item) => Math.max(most, escapeSlack(lineOf(item)).length), 0);
  const incidents = incidentsOf(alerts);
  const count = Math.ceil(incidents.length / Math.floor(LIST_ROOM / (longest + 1)));
  const size = Math.ceil(incidents.length / count);
  return Array.from({ length: count }, (_, part) => incidents.slice(part * size, (part + 1) * size).flat());
};

/**
 * The messages of a digest: one in blocks with every item in it or, for many, with a file; else texts that are digests
 * of their own, so that any of them can be missing from a retry.
 */
export const digestBodies = (
  alerts: readonly Alert[],
  { format, chains, sentAt }: ComposeContext,
  mayAttach: boolean,
): DigestPart[] => {
  const content = describeDigest(alerts, chains, sentAt);
  const rich = format === 'rich' ? richBody(content, mayAttach) : undefined;
  if (rich) return [{ told: alerts, body: rich }];
  return partsOf(alerts, content).map((told) => ({
    told,
    body: textBody(describeDigest(told, chains, sentAt), format),
  }));
};
