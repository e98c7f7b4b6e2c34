/** Text from outside, made safe to show, also as HTML: no control, direction or invisible characters; cuts are visible to the reader. */
import { createBoundedMap, getOrCreate } from './bounded-map.ts';

/** Everything that ends a line somewhere becomes a line feed: a field must not fake a line of ours. */
const LINE_ENDS = /\r\n?|[\v\f\u0085\u2028\u2029]/g;

/**
 * Control characters except line feed and tab, characters that are drawn as nothing (zero-width, direction and tag
 * characters, variation selectors, fillers), interlinear annotation, lone surrogates and noncharacters.
 */
const INVISIBLE = /[\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\p{Cs}\ufff9-\ufffb]|(?![\n\t])\p{Cc}/gu;

const unitsEscaped = (text: string, sign: string): string =>
  text
    .split('')
    .map((unit) => `${sign}${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');

/** Marks piled up on one letter cover the lines around it; no script needs more than four. */
const PILED_MARKS = /(\p{M}{4})\p{M}+/gu;

/** A text of blank lines would push what follows out of sight. */
const BLANK_LINES = /\n(?:[^\S\n]*\n){2,}/g;

/** Most texts have nothing to clean; looking for it takes five times as long as seeing that. */
const PLAIN = /^[\x20-\x7e]*$/;
const PLAIN_LINES = /^[\t\n\x20-\x7e]*$/;
const PLAIN_LINE = /^[\x21-\x7e]+(?: [\x21-\x7e]+)*$/;

/** Names come again and again, and several times in each message. */
const MEMORY = { texts: 500, length: 1000 };
const memory = createBoundedMap<string, string>(MEMORY.texts);

const cleaned = (text: string): string =>
  text.replace(LINE_ENDS, '\n').replace(INVISIBLE, '').replace(PILED_MARKS, '$1').replace(BLANK_LINES, '\n\n').trim();

const remembered = (text: string): string =>
  text.length > MEMORY.length ? cleaned(text) : getOrCreate(memory, text, () => cleaned(text));

/** Several lines of text, made safe to show. */
export const cleanText = (text: string): string => (PLAIN.test(text) ? text.trim() : remembered(text));

/** The same for a place that has one line only. */
export const cleanLine = (text: string): string =>
  PLAIN_LINE.test(text) ? text : cleanText(text).replace(/\s{2,}|[^\S ]/g, ' ');

/**
 * Every such character as `\uXXXX`, and what ends a line elsewhere: a terminal obeys none of them, a reader sees them,
 * and JSON stays the same JSON. `sign`: instead of `\u`.
 */
export const escapeInvisible = (text: string, sign = String.raw`\u`): string => {
  if (PLAIN_LINES.test(text)) return text;
  const escaped = (found: string): string => unitsEscaped(found, sign);
  // The only line ends that are no control characters.
  return text.replace(INVISIBLE, escaped).replace(/[\u2028\u2029]/g, escaped);
};

/** The first `limit` UTF-16 units, less one where that would cut a character in half. */
export const beginningOf = (text: string, limit: number): string =>
  text.slice(0, limit).replace(/[\ud800-\udbff]$/, '');

const cutTo = (text: string, limit: number): string => (limit < 1 ? '' : `${beginningOf(text, limit - 1).trimEnd()}…`);

/**
 * Keeps at most `limit` UTF-16 units, never half a character, and shows with an ellipsis that something is missing. A
 * quotation that it cuts is closed again: what follows is not part of it.
 */
export const shorten = (text: string, limit: number): string => {
  if (text.length <= limit) return text;
  const cut = cutTo(text, limit);
  return cut.lastIndexOf('“') > cut.lastIndexOf('”') ? `${cutTo(text, limit - 1)}”` : cut;
};

/** The beginning and the end of an id or a hash: enough to compare two of them by eye. */
export const shortenMiddle = (text: string, { head, tail }: { head: number; tail: number }): string =>
  text.length <= head + tail + 1 ? text : `${text.slice(0, head)}…${text.slice(-tail)}`;

/** `> ` before every line, so that no line of a text from outside can pass for ours. */
export const quotedLines = (text: string): string => text.replace(/^/gm, '> ');

/** Double quotation marks of every script and what looks like one: `"`, `″`, `״`, `❞`; and two single ones beside each other. */
const QUOTES =
  /["\u00ab\u00bb\u02ba\u02dd\u02ee\u02f5\u02f6\u05f2\u05f4\u201c-\u201f\u2033\u2034\u2036\u2037\u2039\u203a\u2057\u275d\u275e\u2760\u276e\u276f\u2e42\u3003\u300c-\u300f\u301d-\u301f\uff02\uff62\uff63\u{1f676}-\u{1f678}]|['`\u00b4\u02b9-\u02bd\u2018-\u201b\u2032\u2035\u275b\u275c\uff07]{2,}/gu;

/** What can stand in quotes of ours, and not close them. */
export const unquoted = (text: string): string => text.replace(QUOTES, "'");

/** A name or a text from outside among words of ours. In quotes, which it cannot close: people choose their names. */
export const quotedName = (name: string): string => `“${unquoted(cleanLine(name))}”`;

/** As a sentence begins. */
export const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** `1 alert`, `3 alerts`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;

/** The same in a sentence: `one alert`, `3 alerts`. */
export const countedInWords = (count: number, one: string, many?: string): string =>
  count === 1 ? `one ${one}` : counted(count, one, many);

/** Whether a URL can carry a text as a path segment: `.` and `..` are resolved on the way, however they are written. */
export const isPathSegment = (text: string): boolean => text !== '' && text !== '.' && text !== '..';

/** A protocol's name as names are compared: the listing and the items may write one in more than one way. */
export const plainName = (name: string): string => name.normalize('NFC').trim().toLowerCase();

/** A sentence names at most this many, where nothing else is said. */
const MOST_NAMED = 3;

/** `A, B, C and 4 more`. */
export const listText = (names: readonly string[], most = MOST_NAMED): string => {
  const others = names.length - most;
  return `${names.slice(0, most).join(', ')}${others > 0 ? ` and ${others} more` : ''}`;
};

/** The first of them, and a last one that says how many more there are. */
export const firstFew = (lines: readonly string[], most: number): string[] =>
  lines.length > most ? [...lines.slice(0, most), `and ${lines.length - most} more`] : [...lines];

const LONGEST_NAME = 100;

/** A name of the service's in a sentence of ours: free text, so it has one line, a bound and quotes. */
export const nameText = (name: string): string => quotedName(shorten(cleanLine(name), LONGEST_NAME));

/** A monitoring service in a sentence, by its name in the config: `the monitoring service “main”`. */
export const serviceText = (service: string): string => `the monitoring service ${nameText(service)}`;

/** `“A”, “B” and 4 more`: several of them. */
export const namesText = (names: readonly string[], most = MOST_NAMED): string =>
  listText([...names.slice(0, most).map(nameText), ...names.slice(most)], most);

/** Finished HTML. */
export interface Html {
  html: string;
}

type Piece = string | number | Html | readonly Html[];

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text of any origin as HTML, for an element or a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');

const toHtml = (piece: Piece): string => {
  if (typeof piece === 'number') return String(piece);
  if (typeof piece === 'string') return escapeHtml(piece);
  return 'html' in piece ? piece.html : piece.map(({ html }) => html).join('');
};

/**
 * A template of HTML that no value can break: each is escaped, unless it was made here. Values stand between tags or inside
 * quoted attributes.
 */
export const html = ({ raw }: TemplateStringsArray, ...pieces: Piece[]): Html => ({
  html: raw.map((text, index) => text + toHtml(pieces[index] ?? '')).join(''),
});
