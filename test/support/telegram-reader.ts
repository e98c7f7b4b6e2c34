/**
 * Telegram's HTML, read as strictly as the Bot API reads it, and what its apps make clickable by themselves.
 * Written from https://core.telegram.org/bots/api#html-style and tdlib's `MessageEntity.cpp`, not from our renderer.
 */

export interface Entity {
  type: 'b' | 'code' | 'pre' | 'a';
  /** UTF-16 units, as the Bot API counts. */
  offset: number;
  length: number;
  url?: string;
}

export interface Parsed {
  text: string;
  entities: Entity[];
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"' };

/** Named references other than the four, and a bare `&`, stay as they are. */
const decode = (text: string): string =>
  text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]+));?/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code < 0x10ffff ? String.fromCodePoint(code) : whole;
  });

const TAGS = ['b', 'code', 'pre', 'a'] as const;
const isTag = (name: string): name is Entity['type'] => TAGS.some((tag) => tag === name);

const bad = (why: string, at: number): never => {
  throw new Error(`Bad Request: can't parse entities: ${why} at byte offset ${at}`);
};

const openEntity = (tag: string, at: number, offset: number): Entity => {
  const [, name = '', href] = /^([a-z]+)(?: href="([^"<>]*)")?$/.exec(tag) ?? [];
  if (!isTag(name)) return bad(`Unsupported start tag "${tag}"`, at);
  if ((name === 'a') !== (href !== undefined)) return bad(`wrong attributes of "${tag}"`, at);
  return { type: name, offset, length: 0, ...(href === undefined ? {} : { url: decode(href) }) };
};

/** The entity that an end tag closes. */
const closeEntity = (token: string, at: number, open: Entity | undefined, offset: number): Entity =>
  open === undefined || token !== `</${open.type}>`
    ? bad(`Unexpected end tag ${token}`, at)
    : { ...open, length: offset - open.offset };

/** Throws the Bot API's refusal for anything that is not well formed, and for nesting that it would drop. */
export const parseTelegramHtml = (html: string): Parsed => {
  const entities: Entity[] = [];
  let text = '';
  let open: Entity | undefined;
  for (const { 0: token, index } of html.matchAll(/<[^<>]*>|[^<]+|</g)) {
    if (token === '<') bad('Unclosed start tag', index);
    if (token.startsWith('</')) {
      entities.push(closeEntity(token, index, open, text.length));
      open = undefined;
    } else if (token.startsWith('<')) {
      if (open !== undefined) bad('nested entities', index);
      open = openEntity(token.slice(1, -1), index, text.length);
    } else {
      text += decode(token);
    }
  }
  if (open !== undefined) bad("Can't find end tag", html.length);
  return { text, entities: entities.filter(({ length }) => length > 0) };
};

/** What the apps find in text outside code and links: URLs, e-mail, mentions, hash and cash tags, commands, phones. */
const FOUND_BY_APPS: readonly RegExp[] = [
  /[a-z][a-z0-9+.-]*:\/\/\S+/giu,
  /[\p{L}\p{N}_-]+(?:\.[\p{L}\p{N}_-]+)*\.\p{L}{2,}/gu,
  /\b\d{1,3}(?:\.\d{1,3}){3}\b/g,
  /@\w{2,}/g,
  /[#\uff03][\p{L}\p{N}_]+/gu,
  /\$[A-Z]{1,8}\b/g,
  /(?<![\w/<>])\/[A-Za-z0-9_]+/g,
  /\+\d[\d ()-]{5,}/g,
];

/** The server keeps a hundred entities of a message. */
const ENTITIES_MAX = 100;

/** Everything a reader could tap, or that would call somebody. */
export const activeIn = ({ text, entities }: Parsed): string[] => {
  const kept = entities.slice(0, ENTITIES_MAX);
  let open = text;
  for (const { type, offset, length } of kept) {
    if (type !== 'b') open = `${open.slice(0, offset)}${' '.repeat(length)}${open.slice(offset + length)}`;
  }
  return [
    ...kept.flatMap(({ url }) => (url === undefined ? [] : [url])),
    ...FOUND_BY_APPS.flatMap((pattern) => open.match(pattern) ?? []),
  ];
};

/** Limits of one message, before and after parsing. */
export const limitBroken = (raw: string, { text }: Parsed): string | undefined => {
  if (Buffer.byteLength(raw) > 32_768) return 'Bad Request: text is too long';
  if (text.length > 4096) return 'Bad Request: message is too long';
  return text.trim() === '' ? 'Bad Request: message text is empty' : undefined;
};
