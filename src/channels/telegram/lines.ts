/**
 * Lines of text with a little markup. They are measured and cut as plain text and escaped last, so that no cut can fall
 * inside a tag or an entity. Source of the markup: https://core.telegram.org/bots/api#html-style
 */
import { chunksOf } from '../../chunks.ts';
import type { Line as ContentLine, ContentLink } from '../content/content.ts';

/** UTF-16 units after entity parsing. Telegram counts whole characters, of which there are no more. */
export const TEXT_LIMIT = 4096;
/** The same for the caption of a file. Source: https://core.telegram.org/bots/api#senddocument */
export const CAPTION_LIMIT = 1024;
/** Telegram drops the entities beyond this number. */
export const ENTITIES_MAX = 100;
/** Quotes are entities themselves; a message of ours has three at most. */
export const QUOTES_MAX = 3;

/** Plain text with at most one kind of markup; Telegram does not nest links and code. */
export interface Piece {
  text: string;
  mark?: 'b' | 'code' | 'pre';
  /** An http(s) URL of ours. */
  href?: string;
  /**
   * Shown by the reader's clock instead of `text`. `unix`: in seconds; `dT`: with the date before it. Source:
   * https://core.telegram.org/bots/api#date-time-entity-formatting
   */
  time?: { unix: number; format: 'T' | 'dT' };
}

export type Line = readonly Piece[];

/** Lines that stand together. */
export interface Block {
  lines: readonly Line[];
  /** With a bar at their side; `folded`: of more than three lines the others show when the reader taps. */
  as?: 'quote' | 'folded';
}

export const BLANK: Line = [];

/** The three characters with a meaning in HTML parse mode, and the one that would end an attribute. */
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);

const pieceToHtml = ({ text, mark, href, time }: Piece): string => {
  const escaped = escapeHtml(text);
  if (text === '') return '';
  if (href !== undefined) return `<a href="${escapeHtml(href)}">${escaped}</a>`;
  if (time !== undefined) return `<tg-time unix="${time.unix}" format="${time.format}">${escaped}</tg-time>`;
  return mark === undefined ? escaped : `<${mark}>${escaped}</${mark}>`;
};

/** The same HTML for a server that knows no times: texts are escaped, so every such tag is one of ours. */
export const withoutTimes = (html: string): string => html.replace(/<\/?tg-time(?: [^<>]*)?>/g, '');

export const lineToPlain = (line: Line): string => line.map(({ text }) => text).join('');

export const toPlain = (lines: readonly Line[]): string => lines.map(lineToPlain).join('\n');

/** HTML that parses back to exactly `toPlain(lines)`. */
export const toHtml = (lines: readonly Line[]): string =>
  lines.map((line) => line.map(pieceToHtml).join('')).join('\n');

const blockToHtml = ({ lines, as }: Block): string => {
  if (as === undefined) return toHtml(lines);
  return `<blockquote${as === 'folded' ? ' expandable' : ''}>${toHtml(lines)}</blockquote>`;
};

export const linesIn = (blocks: readonly Block[]): Line[] => blocks.flatMap(({ lines }) => lines);

/** The same for blocks. */
export const blocksToHtml = (blocks: readonly Block[]): string =>
  blocks
    .filter(({ lines }) => lines.length > 0)
    .map(blockToHtml)
    .join('\n');

export const blocksToPlain = (blocks: readonly Block[]): string => toPlain(linesIn(blocks));

/** UTF-16 units, each line with its line feed. */
export const lengthOf = (lines: readonly Line[]): number =>
  lines.reduce((length, line) => line.reduce((sum, { text }) => sum + text.length, length + 1), 0);

const isEntity = ({ mark, href, time }: Piece): boolean =>
  mark !== undefined || href !== undefined || time !== undefined;

/** How many entities the lines need; Telegram keeps a hundred of a message. */
export const entitiesIn = (lines: readonly Line[]): number =>
  lines.reduce((count, line) => count + line.filter(isEntity).length, 0);

/** Blocks with a blank line before them; nothing where there are no lines. */
export const apart = (blocks: readonly Block[]): Block[] => {
  const shown = blocks.filter(({ lines }) => lines.length > 0);
  return shown.length > 0 ? [{ lines: [BLANK] }, ...shown] : [];
};

// What would be clickable in text from outside, made harmless.

/**
 * Words that Telegram makes clickable by itself: links and e-mail addresses, mentions (which notify people), hash tags
 * and cash tags, bot commands, phone numbers. Inside code it leaves them alone.
 * Source: https://core.telegram.org/bots/api#messageentity; tdlib/td `MessageEntity.cpp`, `find_entities`.
 */
const CLICKABLE = /[@#\uff03]|(?<!\w)\/|\$\p{L}|\+\d|\.[^\d.]|\d\.\d+\.\d+\.\d/u;

const OPENS = /[\p{Ps}\p{Pi}"'<]/u;
const CLOSES = /[\p{Pe}\p{Pf}"'>.,;:!?…]/u;

/** Where a word begins and ends without the quotation marks, brackets and full stops around it; in time linear in it. */
const coreOf = (word: string): readonly [start: number, end: number] => {
  let start = 0;
  let end = word.length;
  while (start < end && OPENS.test(word.charAt(start))) start += 1;
  while (end > start && CLOSES.test(word.charAt(end - 1))) end -= 1;
  return [start, end];
};

const disarmPiece = (piece: Piece): Piece[] => {
  const { text, mark, href, time } = piece;
  if (href !== undefined || time !== undefined || mark === 'code' || mark === 'pre') return [piece];
  if (!CLICKABLE.test(text)) return text === '' ? [] : [piece];
  const pieces: Piece[] = [];
  let end = 0;
  for (const { 0: whole, index } of text.matchAll(/\S+/g)) {
    const [from, to] = coreOf(whole);
    const word = whole.slice(from, to);
    if (!CLICKABLE.test(word)) continue;
    pieces.push({ ...piece, text: text.slice(end, index + from) }, { text: word, mark: 'code' });
    end = index + to;
  }
  pieces.push({ ...piece, text: text.slice(end) });
  return pieces.filter((part) => part.text !== '');
};

/**
 * The same text without anything that Telegram makes clickable. Telegram drops all entities beyond the hundredth, so lines
 * that need more than `limit` of them become one block.
 */
export const disarm = (lines: readonly Line[], limit: number): Line[] => {
  const disarmed = lines.map((line) => line.flatMap(disarmPiece));
  return entitiesIn(disarmed) <= limit ? disarmed : [[{ text: toPlain(lines), mark: 'pre' }]];
};

/** Entities for one line: enough for a label and a value. */
const LINE_ENTITIES = 3;

/** `disarm` line by line; as one block where that takes more than `limit` entities. */
export const disarmEach = (lines: readonly Line[], limit: number, perLine = LINE_ENTITIES): Line[] => {
  const each = lines.flatMap((line) => disarm([line], perLine));
  return entitiesIn(each) <= limit ? each : disarm(lines, limit);
};

/** A text for a place without markup: words that Telegram would make clickable are left out, visibly. */
export const withoutClickable = (text: string): string =>
  text.replace(/\S+/g, (word) => (CLICKABLE.test(word) ? '…' : word));

/**
 * Leads to a URL, or gives the bot its data when somebody presses it: `buttons.ts` puts these below the others. Source:
 * https://core.telegram.org/bots/api#inlinekeyboardmarkup
 */
export type Button = { text: string; url: string } | { text: string; callback_data: string };

export interface Keyboard {
  inline_keyboard: Button[][];
}

/** More beside each other are cut on a phone. */
const ROW_MAX = 2;

/**
 * Telegram refuses a whole message for a button that leads to a host without a dot, and drops such a link from a text.
 * Source: tdlib/td `LinkManager.cpp`, `check_link_impl`
 */
export const takesLink = (url: string): boolean => {
  const { protocol, hostname } = URL.parse(url) ?? { protocol: '', hostname: '' };
  return /^https?:$/.test(protocol) && (hostname.includes('.') || hostname.startsWith('['));
};

/** Undefined without any that Telegram takes. */
export const keyboardOf = (links: readonly ContentLink[]): Keyboard | undefined => {
  const buttons = links.filter(({ url }) => takesLink(url)).map(({ label, url }): Button => ({ text: label, url }));
  return buttons.length > 0 ? { inline_keyboard: chunksOf(buttons, ROW_MAX) } : undefined;
};

/** Linked where Telegram takes the URL. */
export const linkPiece = (text: string, url: string | undefined): Piece =>
  url !== undefined && takesLink(url) ? { text, href: url } : { text };

/** Telegram takes times up to 1098 days ahead. Source: https://core.telegram.org/constructor/messageEntityFormattedDate */
const AHEAD_MAX_MS = 1000 * 24 * 3_600_000;

/** A line of the content model as one of Telegram's. `now`: epoch milliseconds. */
export const lineOf = (line: ContentLine, now: number): Line =>
  line.map(({ text, url, code, at }): Piece => {
    if (url !== undefined && takesLink(url)) return { text, href: url };
    if (at !== undefined && at >= 1000 && at - now < AHEAD_MAX_MS) {
      return { text, time: { unix: Math.floor(at / 1000), format: /^\d{4}-/.test(text) ? 'dT' : 'T' } };
    }
    return code || url !== undefined ? { text, mark: 'code' } : { text };
  });
