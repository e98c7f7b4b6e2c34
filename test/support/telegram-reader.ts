/**
 * Telegram's HTML, read as strictly as the sandbox reads it, and what its apps make clickable by themselves: written from
 * tdlib's `MessageEntity.cpp`, not from our renderer.
 */
import { parseTelegramHtml as parse, type TelegramEntity } from '../../src/sandbox/receivers/telegram/html.ts';

export interface Parsed {
  text: string;
  entities: TelegramEntity[];
}

/** Throws the Bot API's refusal for anything that is not well formed, and for markup that it would drop without a word. */
export const parseTelegramHtml = (html: string): Parsed => {
  const parsed = parse(html);
  if ('problem' in parsed) throw new Error(`Bad Request: can't parse entities: ${parsed.problem}`);
  const { text, entities, lost } = parsed;
  if (lost.length > 0) throw new Error(`Telegram drops ${JSON.stringify(lost[0])}`);
  return { text, entities };
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

/** The apps find nothing in these. */
const INERT = ['code', 'pre', 'text_link', 'date_time'];

/** Everything a reader could tap, or that would call somebody. */
export const activeIn = ({ text, entities }: Parsed): string[] => {
  let open = text;
  for (const { type, offset, length } of entities) {
    if (INERT.includes(type)) open = `${open.slice(0, offset)}${' '.repeat(length)}${open.slice(offset + length)}`;
  }
  return [
    ...entities.flatMap(({ url }) => (url === undefined ? [] : [url])),
    ...FOUND_BY_APPS.flatMap((pattern) => open.match(pattern) ?? []),
  ];
};

/** Limits of one message, before and after parsing. */
export const limitBroken = (raw: string, { text }: Parsed): string | undefined => {
  if (Buffer.byteLength(raw) > 32_768) return 'Bad Request: text is too long';
  if (text.length > 4096) return 'Bad Request: message is too long';
  return text.trim() === '' ? 'Bad Request: message text is empty' : undefined;
};
