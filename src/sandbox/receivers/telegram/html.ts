/**
 * Telegram's HTML, parsed as strictly as the Bot API does, with its own error texts.
 * Source: https://core.telegram.org/bots/api#html-style and `parse_html` of https://github.com/tdlib/td
 */

export interface TelegramEntity {
  type: string;
  /** In UTF-16 units of the parsed text, as Telegram counts. */
  offset: number;
  length: number;
  url?: string;
}

export interface ParsedHtml {
  text: string;
  entities: TelegramEntity[];
}

/** Canonical name by tag. */
const TAGS: Readonly<Record<string, string>> = {
  b: 'bold',
  strong: 'bold',
  i: 'italic',
  em: 'italic',
  u: 'underline',
  ins: 'underline',
  s: 'strikethrough',
  strike: 'strikethrough',
  del: 'strikethrough',
  a: 'text_link',
  code: 'code',
  pre: 'pre',
  blockquote: 'blockquote',
  'tg-spoiler': 'spoiler',
  span: 'spoiler',
};

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

interface OpenTag {
  name: string;
  entity: TelegramEntity;
}

/** The first sentence of the Bot API's description after "Bad Request: can't parse entities: ". */
class HtmlProblem extends Error {
  override readonly name = 'HtmlProblem';
}

const decodeEntity = (whole: string, name: string): string => {
  if (Object.hasOwn(NAMED, name)) return NAMED[name] ?? whole;
  const number = /^#(?:(\d{1,8})|x([0-9a-f]{1,6}))$/i.exec(name);
  const code = number ? Number.parseInt(number[1] ?? number[2] ?? '', number[1] ? 10 : 16) : 0;
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
};

/** Unknown names stay as they are written, as with Telegram. */
const decodeEntities = (text: string): string => text.replace(/&(#?\w+);?/g, decodeEntity);

const byteOffset = (html: string, index: number): number => Buffer.byteLength(html.slice(0, index));

const readAttributes = (source: string): Map<string, string> => {
  const attributes = new Map<string, string>();
  for (const [, name = '', double, single, bare] of source.matchAll(
    /([^\s=/]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+)))?/g,
  ))
    attributes.set(name.toLowerCase(), decodeEntities(double ?? single ?? bare ?? ''));
  return attributes;
};

const openTag = (name: string, source: string, offset: number, at: number): OpenTag => {
  const type = Object.hasOwn(TAGS, name) ? TAGS[name] : undefined;
  if (type === undefined) throw new HtmlProblem(`Unsupported start tag "${name}" at byte offset ${at}`);
  const attributes = readAttributes(source);
  if (name === 'span' && attributes.get('class') !== 'tg-spoiler')
    throw new HtmlProblem(`Tag "span" must have class "tg-spoiler" at byte offset ${at}`);
  const url = attributes.get('href');
  return { name, entity: { type, offset, length: 0, ...(name === 'a' && url !== undefined && { url }) } };
};

const closeTag = (open: OpenTag | undefined, name: string, offset: number, at: number): TelegramEntity => {
  if (!open) throw new HtmlProblem(`Unexpected end tag at byte offset ${at}`);
  if (name !== '' && name !== open.name)
    throw new HtmlProblem(`Unmatched end tag at byte offset ${at}, expected "</${open.name}>", found "</${name}>"`);
  return { ...open.entity, length: offset - open.entity.offset };
};

/** One tag at a `<`: `</name>` or `<name attributes>`, quotes may hide a `>`. */
const TAG = /<(\/?)([^\s>]*)((?:"[^"]*"|'[^']*'|[^"'>])*)>/y;

const parse = (html: string): ParsedHtml => {
  const entities: TelegramEntity[] = [];
  const open: OpenTag[] = [];
  let text = '';
  let index = 0;
  while (index < html.length) {
    const start = html.indexOf('<', index);
    text += decodeEntities(html.slice(index, start === -1 ? html.length : start));
    if (start === -1) break;
    const at = byteOffset(html, start);
    TAG.lastIndex = start;
    const [whole, slash, tag = '', rest = ''] = TAG.exec(html) ?? [];
    if (whole === undefined) throw new HtmlProblem(`Unclosed start tag at byte offset ${at}`);
    const name = tag.toLowerCase();
    if (slash) entities.push(closeTag(open.pop(), name, text.length, at));
    else open.push(openTag(name, rest, text.length, at));
    index = start + whole.length;
  }
  const left = open.at(-1);
  if (left) throw new HtmlProblem(`Can't find end tag corresponding to start tag "${left.name}"`);
  return { text, entities: entities.filter(({ length }) => length > 0) };
};

/** The text and its entities, or Telegram's complaint. */
export const parseTelegramHtml = (html: string): ParsedHtml | { problem: string } => {
  try {
    return parse(html);
  } catch (error) {
    if (error instanceof HtmlProblem) return { problem: error.message };
    throw error;
  }
};
