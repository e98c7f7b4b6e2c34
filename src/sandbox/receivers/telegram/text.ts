/** Text as the Bot API takes it. Error texts: `Client.cpp` of https://github.com/tdlib/telegram-bot-api. */
import type { JsonValue } from '../../json.ts';
import type { Form } from '../form.ts';
import { type ParsedHtml, parseTelegramHtml } from './html.ts';

/** What the Bot API says behind "Bad Request: ". */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

type TelegramMethod = 'sendMessage' | 'sendDocument' | 'editMessageText' | 'editMessageCaption';

/** A text before and after parsing. */
interface TelegramText extends ParsedHtml {
  source: string;
}

const RAW_TEXT_MAX_BYTES = 32_768;
const TEXT_MAX = 4096;
const CAPTION_MAX = 1024;

/** A field as text: numbers come as either. */
export const fieldText = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Telegram itself drops carriage returns and direction marks, and shows other control characters as spaces. */
const cleanAsTelegram = (text: string): string =>
  text
    .replace(/[\r\u2028-\u202e]/g, '')
    // biome-ignore lint/suspicious/noControlCharactersInRegex: replacing them is the purpose
    .replace(/[\u0000-\u0009\u000b-\u001f]/g, ' ');

const parseText = (source: string, mode: JsonValue | undefined): ParsedHtml => {
  if (Buffer.byteLength(source) > RAW_TEXT_MAX_BYTES) throw new Refusal('text is too long');
  const clean = cleanAsTelegram(source);
  if (mode === undefined || mode === '') return { text: clean, entities: [], lost: [] };
  if (String(mode).toLowerCase() !== 'html') throw new Refusal('unsupported parse_mode');
  const parsed = parseTelegramHtml(clean);
  if ('problem' in parsed) throw new Refusal(`can't parse entities: ${parsed.problem}`);
  return parsed;
};

/** The text or caption of a call. Throws a `Refusal` for one that the Bot API would not take. */
export const readText = (method: TelegramMethod, { fields }: Form): TelegramText => {
  const isCaption = method === 'sendDocument' || method === 'editMessageCaption';
  const source = fieldText(isCaption ? fields.caption : fields.text);
  const parsed = parseText(source, fields.parse_mode);
  if (isCaption && parsed.text.length > CAPTION_MAX) throw new Refusal('message caption is too long');
  if (!isCaption && parsed.text.trim() === '') throw new Refusal('message text is empty');
  if (!isCaption && parsed.text.length > TEXT_MAX) throw new Refusal('message is too long');
  return { ...parsed, source };
};
