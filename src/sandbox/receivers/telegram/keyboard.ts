/**
 * Buttons below a message. Source: https://core.telegram.org/bots/api#inlinekeyboardmarkup; error texts from `Client.cpp` of
 * https://github.com/tdlib/telegram-bot-api and `ReplyMarkup.cpp` of https://github.com/tdlib/td
 */
import { isObject, type JsonObject, type JsonValue, parseJson } from '../../json.ts';
import { checkLink } from './links.ts';
import { Refusal } from './text.ts';

export interface TelegramButton {
  text: string;
  url?: string;
  /** 1 to 64 bytes; comes back when somebody presses the button. */
  callbackData?: string;
  /** Copied when somebody presses the button. */
  copyText?: string;
}

/** The apps show no more than eight in a row; of more than a hundred the server takes none. */
const ROW_MAX = 8;
const BUTTONS_MAX = 100;
const CALLBACK_BYTES_MAX = 64;
const COPY_MAX = 256;

const textIn = (object: JsonObject, field: string): string => {
  const value = object[field] ?? '';
  if (typeof value !== 'string') throw new Refusal(`field "${field}" must be of type String`);
  return value;
};

const copyOf = (button: JsonObject): { copyText?: string } => {
  if (button.copy_text === undefined) return {};
  if (!isObject(button.copy_text)) throw new Refusal('field "copy_text" must be of type Object');
  const copyText = textIn(button.copy_text, 'text');
  if (copyText === '' || copyText.length > COPY_MAX) throw new Refusal('BUTTON_COPY_TEXT_INVALID');
  return { copyText };
};

const readButton = (value: JsonValue): TelegramButton => {
  if (!isObject(value)) throw new Refusal("can't parse inline keyboard button: InlineKeyboardButton must be an Object");
  const text = textIn(value, 'text');
  if (text.trim() === '') throw new Refusal("can't parse inline keyboard button: text buttons must be non-empty");
  const url = textIn(value, 'url');
  const problem = url === '' ? undefined : checkLink(url);
  if (problem !== undefined) throw new Refusal(`inline keyboard button URL '${url}' is invalid: ${problem}`);
  const callbackData = textIn(value, 'callback_data');
  if (Buffer.byteLength(callbackData) > CALLBACK_BYTES_MAX) throw new Refusal('BUTTON_DATA_INVALID');
  const does = { ...(url && { url }), ...(callbackData && { callbackData }), ...copyOf(value) };
  // Of several Telegram takes the first; a sender who names two means something else.
  if (Object.keys(does).length !== 1)
    throw new Refusal("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard");
  return { text, ...does };
};

const readRow = (row: JsonValue): TelegramButton[] => {
  if (!Array.isArray(row))
    throw new Refusal('field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays');
  if (row.length > ROW_MAX) throw new Refusal('REPLY_MARKUP_TOO_LONG');
  return row.map(readButton);
};

/** In a form `reply_markup` is JSON. Undefined without buttons. Throws a `Refusal`. */
export const readKeyboard = ({ reply_markup: given }: JsonObject): TelegramButton[][] | undefined => {
  if (given === undefined || given === '') return undefined;
  const markup = typeof given === 'string' ? parseJson(given) : given;
  if (!isObject(markup)) throw new Refusal('object expected as reply markup');
  const { inline_keyboard: rows = [] } = markup;
  if (!Array.isArray(rows)) throw new Refusal('field "inline_keyboard" must be of type Array');
  const keyboard = rows.map(readRow).filter(({ length }) => length > 0);
  if (keyboard.flat().length > BUTTONS_MAX) throw new Refusal('REPLY_MARKUP_TOO_LONG');
  return keyboard.length > 0 ? keyboard : undefined;
};
