/**
 * Telegram's HTML, parsed as strictly as the Bot API does, with its own error texts.
 * Source: https://core.telegram.org/bots/api#html-style and `parse_html` of https://github.com/tdlib/td
 */
import { type Shown, settleEntities, type TelegramEntity } from './entities.ts';
import { entityOf, HtmlProblem, isTag, type OpenTag, withLanguages } from './tags.ts';

export type { TelegramEntity } from './entities.ts';

export interface ParsedHtml extends Shown {
  text: string;
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

const decodeEntity = (whole: string, name: string): string => {
  if (Object.hasOwn(NAMED, name)) return NAMED[name] ?? whole;
  const number = /^#(?:(\d{1,8})|x([0-9a-f]{1,6}))$/i.exec(name);
  const code = number ? Number.parseInt(number[1] ?? number[2] ?? '', number[1] ? 10 : 16) : 0;
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
};

/** Unknown names stay as they are written, as with Telegram. */
const decodeEntities = (text: string): string => text.replace(/&(#?\w+);?/g, decodeEntity);

const byteOffset = (html: string, index: number): number => Buffer.byteLength(html.slice(0, index));

const ATTRIBUTE = /\s*([^\s=>/"']*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S*)))?/y;

const readAttributes = (name: string, source: string, at: number): Map<string, string> => {
  const attributes = new Map<string, string>();
  const rest = source.trimEnd();
  ATTRIBUTE.lastIndex = 0;
  while (ATTRIBUTE.lastIndex < rest.length) {
    const [, attribute = '', double, single, bare] = ATTRIBUTE.exec(rest) ?? [];
    if (attribute === '') throw new HtmlProblem(`Empty attribute name in the tag "${name}" at byte offset ${at}`);
    if (bare !== undefined && !/^[\w.-]+$/.test(bare))
      throw new HtmlProblem(`Unexpected end of name token at byte offset ${at}`);
    attributes.set(attribute, decodeEntities(double ?? single ?? bare?.toLowerCase() ?? ''));
  }
  return attributes;
};

const openTag = (name: string, source: string, offset: number, at: number): OpenTag => {
  if (!isTag(name)) throw new HtmlProblem(`Unsupported start tag "${name}" at byte offset ${at}`);
  const attributes = readAttributes(name, source, at);
  if (name === 'span' && attributes.get('class') !== 'tg-spoiler')
    throw new HtmlProblem(`Tag "span" must have class "tg-spoiler" at byte offset ${at}`);
  return { name, attributes, offset };
};

const closeTag = (open: OpenTag | undefined, name: string, at: number): OpenTag => {
  if (!open) throw new HtmlProblem(`Unexpected end tag at byte offset ${at}`);
  if (name !== '' && name !== open.name)
    throw new HtmlProblem(`Unmatched end tag at byte offset ${at}, expected "</${open.name}>", found "</${name}>"`);
  return open;
};

const languageOf = ({ name, attributes }: OpenTag): string | undefined =>
  name === 'code' ? /^language-(.+)$/.exec(attributes.get('class') ?? '')?.[1] : undefined;

/** One tag at a `<`: `</name>` or `<name attributes>`, quotes may hide a `>`. */
const TAG = /<(\/?)([^\s>]*)((?:"[^"]*"|'[^']*'|[^"'>])*)>/y;

const parse = (html: string): ParsedHtml => {
  const entities: TelegramEntity[] = [];
  const ignored: TelegramEntity[] = [];
  const languages = new Map<TelegramEntity, string>();
  const open: OpenTag[] = [];
  let text = '';

  const close = (name: string, at: number): void => {
    const tag = closeTag(open.pop(), name, at);
    // Tags around nothing are nothing, and their attributes are not looked at.
    const length = text.length - tag.offset;
    if (length === 0) return;
    const entity = entityOf(tag, text);
    if (!entity) {
      ignored.push({ type: tag.name, offset: tag.offset, length });
      return;
    }
    entities.push(entity);
    const language = languageOf(tag);
    if (language !== undefined) languages.set(entity, language);
  };

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
    if (slash) close(name, at);
    else open.push(openTag(name, rest, text.length, at));
    index = start + whole.length;
  }
  const left = open.at(-1);
  if (left) throw new HtmlProblem(`Can't find end tag corresponding to start tag "${left.name}"`);
  const settled = settleEntities(withLanguages(entities, languages));
  return { text, entities: settled.entities, lost: [...ignored, ...settled.lost] };
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
