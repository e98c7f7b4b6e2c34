/**
 * A mail as its reader has it: MIME taken apart by postal-mime, HTML by a strict reader of the test's own that knows
 * only the elements a plain mail needs and throws on everything else.
 */
import PostalMime, { type Email } from 'postal-mime';

export interface HtmlShown {
  text: string;
  /** Values of every attribute that can load or lead anywhere. */
  active: string[];
}

const VOID = new Set(['meta', 'br', 'hr']);
const BLOCKS = new Set([
  'div',
  'p',
  'blockquote',
  'h1',
  'h2',
  'dl',
  'dt',
  'dd',
  'br',
  'hr',
  'body',
  'table',
  'tr',
  'td',
]);
const ALLOWED = new Set([...VOID, ...BLOCKS, 'html', 'head', 'title', 'style', 'strong', 'span', 'a']);
const ATTRIBUTES = new Set([
  'aria-hidden',
  'aria-roledescription',
  'class',
  'role',
  'style',
  'lang',
  'href',
  'charset',
  'name',
  'content',
]);

const NAMED: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** Throws on a bare `&`: it may turn into something else in a reader that knows more names. */
const decode = (text: string): string =>
  text.replace(/&[^;\s]*;?/g, (reference) => {
    const character = Object.hasOwn(NAMED, reference) ? NAMED[reference] : undefined;
    if (character === undefined) throw new Error(`unknown reference ${reference}`);
    return character;
  });

interface Tag {
  name: string;
  attributes: Map<string, string>;
}

const readTag = (source: string): Tag => {
  const [, name = '', rest = ''] = /^<([a-z][a-z0-9]*)((?: [a-z-]+="[^"<>]*")*)>$/.exec(source) ?? [];
  if (!ALLOWED.has(name)) throw new Error(`element not allowed: ${source}`);
  const attributes = new Map<string, string>();
  for (const [, key = '', value = ''] of rest.matchAll(/ ([a-z-]+)="([^"]*)"/g)) {
    if (!ATTRIBUTES.has(key) || attributes.has(key)) throw new Error(`attribute not allowed: ${source}`);
    attributes.set(key, decode(value));
  }
  return { name, attributes };
};

const activeIn = ({ attributes }: Tag): string[] => {
  const href = attributes.get('href');
  const loads = /url\(|expression|@import|javascript:/i.test(attributes.get('style') ?? '');
  return [...(href === undefined ? [] : [href]), ...(loads ? [attributes.get('style') ?? ''] : [])];
};

const breakLine = (text: string): string => (text === '' || text.endsWith('\n') ? text : `${text}\n`);

/** What an element does to the text: blocks stand on lines of their own. */
const around = (name: string, text: string): string => {
  if (name === 'br') return `${text}\n`;
  return BLOCKS.has(name) ? breakLine(text) : text;
};

const close = (open: string[], token: string): string => {
  const name = open.pop() ?? '';
  if (token !== `</${name}>`) throw new Error(`${token} closes ${name}`);
  return name;
};

/** Line feeds between two tags are our layout; everything else in the body is shown. */
const isShown = (open: readonly string[], token: string): boolean => open.includes('body') && !/^\n+$/.test(token);

/** The text of a body as a browser would show it, and what in it leads elsewhere. */
export const readHtml = (html: string): HtmlShown => {
  if (!html.startsWith('<!doctype html>\n')) throw new Error('no doctype');
  const open: string[] = [];
  const active: string[] = [];
  let text = '';
  for (const [token] of html.slice('<!doctype html>\n'.length).matchAll(/<[^<>]*>|[^<]+|</g)) {
    if (token.startsWith('</')) {
      text = around(close(open, token), text);
    } else if (token.startsWith('<')) {
      const tag = readTag(token);
      active.push(...activeIn(tag));
      text = around(tag.name, text);
      if (!VOID.has(tag.name)) open.push(tag.name);
    } else if (isShown(open, token)) {
      text += decode(token);
    } else if (/url\(|@import/i.test(token)) {
      active.push(token);
    }
  }
  if (open.length > 0) throw new Error(`left open: ${open.join(' ')}`);
  return { text, active };
};

export interface MailShown {
  mail: Email;
  /** Header lines by lower-cased name, unfolded. */
  headers: Map<string, string[]>;
  subject: string;
  plain: string;
  html?: HtmlShown;
  /** The texts of what is attached. */
  files: string[];
}

const headersOf = (raw: string): Map<string, string[]> => {
  const [block = ''] = raw.split('\r\n\r\n', 1);
  const headers = new Map<string, string[]>();
  for (const line of block.replace(/\r\n[ \t]+/g, ' ').split('\r\n')) {
    const [, name = '', value = ''] = /^([\x21-\x39\x3b-\x7e]+):\s*(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`not a header line: ${JSON.stringify(line)}`);
    headers.set(name.toLowerCase(), [...(headers.get(name.toLowerCase()) ?? []), value]);
  }
  return headers;
};

/** Takes a whole mail apart; throws on one that is not well formed. */
export const readMail = async (raw: string): Promise<MailShown> => {
  const mail = await PostalMime.parse(raw);
  return {
    mail,
    headers: headersOf(raw),
    subject: mail.subject ?? '',
    plain: (mail.text ?? '').replaceAll('\r\n', '\n'),
    files: mail.attachments.map(({ content }) => Buffer.from(content as ArrayBuffer).toString()),
    ...(mail.html === undefined ? {} : { html: readHtml(mail.html.replaceAll('\r\n', '\n')) }),
  };
};
