/** Buttons below a Telegram message, and presses of them as `getUpdates` gives them. Pure. */
import type { Destination } from '../../alert.ts';
import { shorten } from '../../text.ts';
import { type Annotation, BUTTONS, type ButtonName, type Buttons } from '../channel.ts';
import { idIn, objectIn, textIn } from '../content/foreign.ts';
import { parseChatAddress } from './address.ts';
import { type Button, disarm, ENTITIES_MAX, toHtml, withoutClickable } from './lines.ts';
import type { TelegramBody } from './message.ts';

/** UTF-16 units after entity parsing; markup only makes a text longer. */
const LONGEST = { text: 4096, caption: 1024 };
const LABEL_LIMIT = 64;

const LETTERS: Readonly<Record<ButtonName, string>> = { acknowledge: 'a', mute: 'm' };

/** What a button carries; undefined for what is not ours. */
export const readData = (data: string): { name: ButtonName; token: string } | undefined => {
  const [, letter, token = ''] = /^([a-z]):(.*)$/s.exec(data) ?? [];
  const name = BUTTONS.find((one) => LETTERS[one] === letter);
  return name === undefined ? undefined : { name, token };
};

/** A note has a person's name in it, which may be anything; Telegram keeps a hundred entities, and the message has some. */
const NOTE_ENTITIES = 5;

const countIn = (text: string, part: RegExp): number => text.match(part)?.length ?? 0;

/** Right below the title, where people look first; below everything where that is one line, or its markup goes on. */
const belowTitle = (text: string, note: string, isHtml: boolean): string => {
  const end = text.indexOf('\n');
  const title = text.slice(0, Math.max(0, end));
  const isWhole = !isHtml || countIn(title, /<[a-z]/g) === countIn(title, /<\//g);
  return end > 0 && isWhole ? `${title}\n${note}${text.slice(end)}` : `${text}\n\n${note}`;
};

/** Telegram drops the last ones beyond a hundred, and what they cover becomes clickable. Texts are escaped: every tag is ours. */
const noteHtml = (note: string, html: string): string => {
  const limit = Math.min(NOTE_ENTITIES, ENTITIES_MAX - countIn(html, /<[a-z]/g));
  return toHtml(limit > 0 ? disarm([[{ text: note }]], limit) : [[{ text: withoutClickable(note) }]]);
};

/** Undefined where the text has no room for it. */
const withNote = ({ text, parse_mode, file, isCaption }: TelegramBody, note: string): string | undefined => {
  const isHtml = parse_mode === 'HTML';
  const longer = belowTitle(text, isHtml ? noteHtml(note, text) : withoutClickable(note), isHtml);
  return longer.length <= (file || isCaption ? LONGEST.caption : LONGEST.text) ? longer : undefined;
};

const put = (body: TelegramBody, { token, buttons, note }: Annotation): TelegramBody => {
  const text = note === undefined ? body.text : withNote(body, note);
  // A note without room in the text becomes a button, which says the same when it is pressed.
  const noted = note !== undefined && text === undefined ? [{ name: 'acknowledge' as const, label: note }] : [];
  const row = [...noted, ...buttons].map(({ name, label }): Button => {
    // The data has at most 64 bytes.
    return { text: shorten(label, LABEL_LIMIT), callback_data: `${LETTERS[name]}:${token}` };
  });
  if (row.length === 0 && note === undefined) return body;
  const rows = [...(body.reply_markup?.inline_keyboard ?? []), ...(row.length === 0 ? [] : [row])];
  return {
    ...body,
    text: text ?? body.text,
    ...(rows.length === 0 ? {} : { reply_markup: { inline_keyboard: rows } }),
  };
};

/** A file stays as it is: its caption is what changes. */
const kept = ({ file, ...body }: TelegramBody): TelegramBody => ({
  ...body,
  ...(file === undefined ? {} : { isCaption: true }),
});

/** Every chat can have buttons. */
export const telegramButtons: Omit<Buttons<TelegramBody>, 'listen'> = { areAt: () => true, put, kept };

/** As much of a callback query as we read; undefined for anything but a press below a message. Source: https://core.telegram.org/bots/api#callbackquery */
export const readQuery = (value: unknown) => {
  const { id, data, from, message } = objectIn(value);
  const { chat, message_id, is_topic_message, message_thread_id } = objectIn(message);
  if (typeof id !== 'string' || typeof message_id !== 'number') return undefined;
  const { id: user, first_name, last_name, username } = objectIn(from);
  const full = [first_name, last_name].map(textIn).join(' ').trim();
  const place = objectIn(chat);
  return {
    id,
    data: textIn(data),
    user: idIn(user),
    name: full || textIn(username),
    chat: {
      id: idIn(place.id),
      type: textIn(place.type),
      /** Of a public chat, without `@`. */
      username: typeof place.username === 'string' ? place.username : undefined,
    },
    messageId: message_id,
    /** Of the message, in a forum. */
    topic: is_topic_message === true && typeof message_thread_id === 'number' ? message_thread_id : undefined,
  };
};

export type PressedQuery = NonNullable<ReturnType<typeof readQuery>>;
type PressedChat = PressedQuery['chat'];

const isChat = (name: string, { id, username }: PressedChat): boolean =>
  name === id || (username !== undefined && name.toLowerCase() === `@${username.toLowerCase()}`);

export const isAt = (
  { chat, messageId }: PressedQuery,
  { address }: Destination,
  handle: string | undefined,
): boolean => {
  // It was pressed before we had noted where it is.
  if (handle === undefined) return isChat(parseChatAddress(address)?.chat ?? address, chat);
  const [, name = '', id] = /^(.+):(\d+)$/.exec(handle) ?? [];
  return isChat(name, chat) && Number(id) === messageId;
};

/** Somebody who is in the chat now. */
export const isMember = ({ status, is_member }: Record<string, unknown>): boolean =>
  ['creator', 'administrator', 'member'].some((one) => one === status) ||
  (status === 'restricted' && is_member === true);

/** Only members see what is written there, and so its buttons. */
export const isPrivateGroup = ({ type, username }: PressedChat): boolean =>
  (type === 'group' || type === 'supergroup') && username === undefined;
