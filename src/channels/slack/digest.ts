/** Many alerts as one Slack message, with a file if the message has no room for everything. Pure. */
import type { KnownBlock } from '@slack/types';
import type { Alert } from '../../alert.ts';
import { packed } from '../../chunks.ts';
import type { Sliced } from '../../slices.ts';
import { cleanLine } from '../../text.ts';
import type { ComposeContext } from '../channel.ts';
import { detectionText } from '../content.ts';
import { describeDigest } from '../digest.ts';
import { type CountTable, type DigestContent, type DigestItem, nameOf } from '../digest-content.ts';
import { digestFile } from '../digest-file.ts';
import type { SlackBody } from './body.ts';
import { type Describe, type DigestPart, digestTexts, lineOf, rowsOf } from './digest-text.ts';
import {
  code,
  columns,
  context,
  escapeSlack,
  fits,
  fitted,
  formatted,
  LIMITS,
  labelled,
  link,
  section,
  type Text,
  titleBlock,
} from './markup.ts';

const PUSH_LIMIT = 300;
const NOTICE_LIMIT = 1500;
const NAME_LIMIT = 160;
const HEADLINE_LIMIT = 400;
const SAID_LIMIT = 300;
/** How many of the worst items are shown at length: the first number that leaves enough room. */
const WORST = [6, 3, 0] as const;
/** Above these numbers blocks never have room, so they are not even tried: a storm has thousands of alerts. */
const WHOLE_MAX = LIMITS.blocks / 2;
const LIST_MAX = 200;

const tableText = (table: CountTable): Text => labelled(table.title, rowsOf(table).join('\n'));

const headBlocks = ({ title, span, why, notice, tables }: DigestContent): KnownBlock[] => [
  titleBlock(title),
  context(`${span}. ${why}`),
  ...(notice === undefined ? [] : [context(fitted(notice, NOTICE_LIMIT))]),
  ...columns(tables.slice(0, 2).map(tableText)),
  ...tables.slice(2).map((table) => section(tableText(table))),
  { type: 'divider' },
];

/** Transaction, chain and time, in small print below the findings. */
const whereBlock = (item: DigestItem): KnownBlock => {
  const { url, hash, chain, time } = item;
  const linked = url === undefined || hash === undefined ? undefined : link(url, hash);
  const name = linked === undefined ? fitted(nameOf(item), NAME_LIMIT) : formatted(linked);
  const where = [chain, time].filter((part) => part !== undefined).join(', ');
  return context(name, fitted(where, NAME_LIMIT));
};

/** An item with all its messages. */
const wholeItem = (item: DigestItem): KnownBlock[] => {
  const { severity, protocol, headline, detections, message } = item;
  const said = [...detections.map(detectionText), ...(message === undefined ? [] : [message])];
  const title = said.length === 0 ? headline : `${severity}: ${protocol}`;
  return [section(labelled(title, said.join('\n'))), whereBlock(item)];
};

/** The first message of a detector; of a stored notification its whole text. */
const gistOf = ({ detections, message }: DigestItem): string => {
  const said = detections.find((detection) => detection.message !== '');
  return message ?? fitted(cleanLine(said === undefined ? '' : `${said.name}: ${said.message}`), SAID_LIMIT);
};

const gistItem = (item: DigestItem): KnownBlock[] => [
  section(labelled(fitted(item.headline, HEADLINE_LIMIT), gistOf(item))),
  whereBlock(item),
];

const FENCE_ROOM = 10;

/** A list of the items that are not shown at length. */
const listBlocks = (items: readonly DigestItem[], all: number): KnownBlock[] => {
  if (items.length === 0) return [];
  const title = items.length === all ? 'All of them, the worst first' : `The other ${items.length}`;
  const groups = packed(items.map(lineOf), LIMITS.section - FENCE_ROOM, (line) => escapeSlack(line).length + 1);
  return [section(labelled(title, '')), ...groups.map((lines) => section(code(lines.join('\n'))))];
};

/** As many of the worst items as leave room for `rest`; undefined if there is no room even without them. */
const withWorst = (content: DigestContent, rest: (items: DigestItem[]) => KnownBlock[]): KnownBlock[] | undefined => {
  const head = headBlocks(content);
  for (const count of WORST) {
    const worst = content.items.slice(0, count).flatMap(gistItem);
    const title = worst.length > 0 ? [section(labelled('The worst', ''))] : [];
    const blocks = [...head, ...title, ...worst, ...rest(content.items.slice(count))];
    if (fits(blocks)) return blocks;
  }
  return undefined;
};

const body = ({ headline }: DigestContent, blocks: KnownBlock[]): SlackBody => ({
  text: escapeSlack(fitted(headline, PUSH_LIMIT)),
  blocks,
});

const wholeBody = (content: DigestContent): SlackBody | undefined => {
  if (content.items.length > WHOLE_MAX) return undefined;
  const blocks = [...headBlocks(content), ...content.items.flatMap(wholeItem)];
  return fits(blocks) ? body(content, blocks) : undefined;
};

function* bodyWithFile(content: DigestContent): Sliced<SlackBody | undefined> {
  const file = yield* digestFile(content);
  const where = `All ${content.alerts}, each with its hash, are in a file in this message's thread: ${file.name}`;
  const blocks = withWorst(content, () => [context(where)]);
  return blocks && { ...body(content, blocks), file };
}

const listBody = (content: DigestContent): SlackBody | undefined => {
  const blocks = withWorst(content, (items) => listBlocks(items, content.items.length));
  return blocks && body(content, blocks);
};

function* richBody(alerts: readonly Alert[], describe: Describe, mayAttach: boolean): Sliced<SlackBody | undefined> {
  if (!mayAttach && alerts.length > LIST_MAX) return undefined;
  const content = yield* describe(alerts);
  return wholeBody(content) ?? (mayAttach ? yield* bodyWithFile(content) : listBody(content));
}

/**
 * The messages of a digest: one with everything in blocks; else one with a file or, where files are not allowed, with a
 * list of every hash; else plain texts.
 */
export function* digestBodies(
  alerts: readonly Alert[],
  { format, chains, sentAt }: ComposeContext,
  mayAttach: boolean,
): Sliced<DigestPart[]> {
  const describe: Describe = (some) => describeDigest(some, chains, sentAt);
  const rich = format === 'rich' ? yield* richBody(alerts, describe, mayAttach) : undefined;
  return rich ? [{ alerts, body: rich }] : yield* digestTexts(alerts, describe, format);
}
