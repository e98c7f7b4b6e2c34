/** Many alerts as one Slack message, with a file if the message has no room for everything. Pure. */

import type { ContextBlock, KnownBlock, MessageAttachment, RichTextBlock, RichTextElement } from '@slack/types';
import type { Alert } from '../../alert.ts';
import { chunksOf, packed, type Sliced } from '../../chunks.ts';
import { cleanLine, quotedLines, shorten } from '../../text.ts';
import type { ComposeContext, Format } from '../channel.ts';
import { type Detection, lineText } from '../content/content.ts';
import { shortenHex } from '../content/foreign.ts';
import { unsaid } from '../content/heading.ts';
import { wordingOf } from '../content/reading.ts';
import { describeDigest } from '../digest.ts';
import {
  type CountTable,
  type DigestContent,
  type DigestItem,
  digestFile,
  itemLine,
  nameOf,
  othersLine,
  titleOf,
  topOf,
  worstOf,
} from '../digest-content.ts';
import { worstFirst } from '../digest-items.ts';
import {
  bold,
  code,
  codeWords,
  colored,
  context,
  elementOf,
  escapeSlack,
  fits,
  fitted,
  happenedParts,
  joinLines,
  LIMITS,
  linesBlock,
  richText,
  type SlackBody,
  section,
  textSection,
  titleBlock,
  wholeBlocks,
  within,
  words,
} from './blocks.ts';

// Many alerts as plain texts: for a channel without files, and after a refusal.

type Describe = (alerts: readonly Alert[]) => Sliced<DigestContent>;

const TEXT_ROWS_MAX = 8;
const ROW_LIMIT = 160;
const LINE_LIMIT = 300;
const HEAD_LIMIT = 7000;
/** The longest item that fits into a text below its head. */
const ITEM_LIMIT = 31_000;
/** About as many usual lines fit into a text. */
const ITEMS_MAX = 300;

/** `80  flashLoan`, the most frequent first. */
const rowsOf = (table: CountTable): string[] => {
  const { rows, more } = topOf(table, TEXT_ROWS_MAX);
  return [
    ...rows.map(({ name, count }) => fitted(`${count}  ${name}`, ROW_LIMIT)),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
};

/** An item in a list: one line; of a stored notification also its whole text, quoted, as it comes from outside. */
const lineOf = (item: DigestItem): string => {
  const line = fitted(itemLine(item), LINE_LIMIT);
  return item.message === undefined ? line : `${line}\n${quotedLines(item.message)}`;
};

/** So many of the worst are shown with what happened. */
const TEXT_WORST = 3;

const headLines = ({ title, items, notice, tables, span, why }: DigestContent): string[] => [
  title,
  ...worstOf({ items }, TEXT_WORST).flatMap((worst) => [titleOf(worst), quotedLines(worst.happened)]),
  ...(notice === undefined ? [] : [notice]),
  ...tables.map((table) => `${table.title}: ${rowsOf(table).join(', ')}`),
  `${span}. ${why}`,
];

/** Minimal: nothing but the hashes. */
const textBody = (content: DigestContent, format: Format): SlackBody => {
  const minimal = format === 'minimal';
  const head = minimal ? content.title : fitted(headLines(content).join('\n'), HEAD_LIMIT);
  const list = content.items.map((item) => (minimal ? nameOf(item) : within(lineOf(item), ITEM_LIMIT)));
  const lines = [head, '', 'All of them, the worst first:', ...list, '', `More about each: ${content.command}`];
  return { text: escapeSlack(lines.join('\n')), mrkdwn: false };
};

interface DigestPart {
  alerts: readonly Alert[];
  body: SlackBody;
}

/** The incidents as one text; if it is too long, as a text for each half of them. */
function* textsOf(incidents: readonly (readonly Alert[])[], describe: Describe, format: Format): Sliced<DigestPart[]> {
  const alerts = incidents.flat();
  const body = textBody(yield* describe(alerts), format);
  if (body.text.length <= LIMITS.text || incidents.length === 1) return [{ alerts, body }];
  const half = Math.ceil(incidents.length / 2);
  const first = yield* textsOf(incidents.slice(0, half), describe, format);
  return [...first, ...(yield* textsOf(incidents.slice(half), describe, format))];
}

const PUSH_LIMIT = 300;
const NOTICE_LIMIT = 1500;
const SAID_LIMIT = 300;
const MESSAGE_LIMIT = 1000;
/** How many of the worst items are shown at length: the first number that leaves enough room. */
const WORST = [3, 0] as const;
/** Transactions that are named besides: linked where there is room for that. */
const NAMED_MAX = 400;
/** Above these numbers blocks never have room, so they are not even tried: a storm has thousands of alerts. */
const WHOLE_MAX = LIMITS.blocks / 2;
const LIST_MAX = 200;

/** `Detectors: 8 × Flash loan, 3 × Mixer and 2 more` */
const tableLine = (table: CountTable): RichTextElement[] => {
  const { rows, more } = topOf(table);
  const shown = rows.flatMap(({ name, count, url }, index) => [
    words(`${index === 0 ? ': ' : ', '}${count} × `),
    elementOf({ text: shortenHex(name), url }),
  ]);
  return [bold(table.title), ...shown, ...(more > 0 ? [words(` and ${more} more`)] : [])];
};

/** Below what happened: why it comes this way, how often what was involved, from when to when, and why it is one message. */
const countBlocks = ({ tables, period, why, notice }: DigestContent): KnownBlock[] => [
  ...(notice === undefined ? [] : [context(fitted(notice, NOTICE_LIMIT))]),
  ...(tables.length === 0 ? [] : [richText(textSection(joinLines(tables.map(tableLine))))]),
  ...linesBlock([[...period, { text: `. ${why}` }]]),
];

/** Transaction, chain and time, and what made it rank high. */
const whereElements = (item: DigestItem): RichTextElement[] => {
  const { url, shortHash, chain, chainName = chain, time, at, remarks } = item;
  const name =
    url === undefined || shortHash === undefined ? codeWords(nameOf(item)) : elementOf({ text: shortHash, url });
  const on = chainName === undefined ? '' : ` on ${chainName}`;
  return [name, words(`${on} · `), elementOf({ text: time, at }), ...remarks.map((remark) => words(` · ${remark}`))];
};

const itemBlock = (item: DigestItem, detections: Detection[], message: string | undefined): RichTextBlock =>
  richText(
    textSection([bold(titleOf(item))]),
    ...happenedParts({ detections, isOurs: false, message }),
    textSection(whereElements(item)),
  );

/** The first message of a detector; the beginning of a stored notification. */
const gistItem = (item: DigestItem): RichTextBlock => {
  const said = item.gist.find(({ message }) => message !== '') ?? item.gist[0];
  const short = said === undefined ? [] : [{ ...said, message: shorten(cleanLine(said.message), SAID_LIMIT) }];
  return itemBlock(item, short, item.message && shorten(item.message, MESSAGE_LIMIT));
};

/** Of tables that are cut above, or whose addresses are. */
const wholeRows = ({ tables }: DigestContent): ContextBlock[] =>
  tables
    .map((table) => ({ text: [table.title, ...rowsOf(table)].join('\n'), isCut: topOf(table).more > 0 }))
    .filter(({ text, isCut }) => isCut || shortenHex(text) !== text)
    .map(({ text }) => context(text));

const FENCE_ROOM = 10;

/** Every item in a line, with its whole hash to copy, beside the bar. */
const listOf = (
  content: DigestContent,
  asLine: (item: DigestItem) => string,
  above: readonly KnownBlock[] = [],
): MessageAttachment[] => {
  const { tone, items } = content;
  const groups = packed(items.map(asLine), LIMITS.section - FENCE_ROOM, (line) => escapeSlack(line).length + 1);
  const list = groups.map((group) => section(code(group.join('\n'))));
  return colored(tone, [...above, context('All of them, the worst first'), ...list, ...wholeRows(content)]);
};

/** Undefined where Slack would refuse it. */
const bodyOf = (
  content: DigestContent,
  worst: readonly KnownBlock[],
  attachments: MessageAttachment[],
): SlackBody | undefined => {
  const blocks = [titleBlock(content.title), ...worst, ...countBlocks(content)];
  const text = escapeSlack(fitted(content.headline, PUSH_LIMIT));
  return fits(blocks, attachments) ? { text, blocks, attachments } : undefined;
};

/**
 * With as many of the items as there is room for; undefined if there is none. `attached`: what may stand below them, the best
 * first.
 */
const withWorst = (
  content: DigestContent,
  attached: (shown: readonly DigestItem[]) => MessageAttachment[][],
): SlackBody | undefined => {
  for (const count of WORST) {
    const worst = worstOf(content, count);
    for (const attachments of attached(worst)) {
      const found = bodyOf(content, worst.map(gistItem), attachments);
      if (found) return found;
    }
  }
  return undefined;
};

const wholeBody = (content: DigestContent): SlackBody | undefined => {
  if (content.items.length > WHOLE_MAX) return undefined;
  const [most] = WORST;
  const worst = worstOf(content, most);
  const others = content.items
    .filter((item) => !worst.includes(item))
    .map((item) => itemBlock(item, item.detections, item.message));
  const whole = worst.flatMap((item) => wholeBlocks(unsaid(item, item.gist)));
  const list = listOf(content, ({ message: _message, ...item }) => lineOf(item), [...whole, ...others]);
  return bodyOf(
    content,
    worst.map((item) => itemBlock(item, item.gist, item.message)),
    list,
  );
};

function* bodyWithFile(content: DigestContent): Sliced<SlackBody | undefined> {
  const file = yield* digestFile(content);
  const where = `All ${content.alerts.toLocaleString('en')}, each with its hash, are in a file in this message's thread: ${file.name}`;
  const whole = withWorst(content, (shown) => {
    const others = othersLine(content, shown, NAMED_MAX);
    // Slack folds what is long there: the list is one tap away, and hides nothing.
    return [others, [{ text: lineText(others) }], []].map((line) =>
      colored(content.tone, [context(where), ...linesBlock([line])]),
    );
  });
  return whole && { ...whole, file };
}

function* richBody(alerts: readonly Alert[], describe: Describe, mayAttach: boolean): Sliced<SlackBody | undefined> {
  if (!mayAttach && alerts.length > LIST_MAX) return undefined;
  const content = yield* describe(alerts);
  const whole = wholeBody(content);
  if (whole || mayAttach) return whole ?? (yield* bodyWithFile(content));
  const list = listOf(content, lineOf);
  return withWorst(content, () => [list]);
}

/**
 * The messages of a digest: one with everything in blocks; else one with a file or, where files are not allowed, with a
 * list of every hash; else as few plain texts as have room for every hash, the worst in the first. Each of these is a digest
 * of its own, so that a retry is of those that were not delivered.
 */
export function* digestBodies(
  alerts: readonly Alert[],
  context: ComposeContext,
  mayAttach: boolean,
): Sliced<DigestPart[]> {
  const { format } = context;
  const describe: Describe = (some) => describeDigest(some, wordingOf(context), context.storm);
  const rich = format === 'rich' ? yield* richBody(alerts, describe, mayAttach) : undefined;
  if (rich) return [{ alerts, body: rich }];
  const parts: DigestPart[] = [];
  for (const incidents of chunksOf(yield* worstFirst(alerts, wordingOf(context)), ITEMS_MAX)) {
    parts.push(...(yield* textsOf(incidents, describe, format)));
  }
  return parts;
}
