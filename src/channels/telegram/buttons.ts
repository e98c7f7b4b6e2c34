/** Buttons below a Telegram message, and presses of them as `getUpdates` gives them. Pure. */
import type { Destination } from '../../alert.ts';
import { shorten } from '../../text.ts';
import { type Annotation, BUTTONS, type ButtonName, type Buttons } from '../channel.ts';
import { type Line, lineText } from '../content/content.ts';
import { idIn, objectIn, textIn } from '../content/foreign.ts';
import { aroundSign } from '../content/severity.ts';
import { parseChatAddress } from './address.ts';
import {
  type Button,
  disarm,
  ENTITIES_MAX,
  entitiesIn,
  lineOf,
  lineToPlain,
  toHtml,
  withoutClickable,
} from './lines.ts';
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

/** A note and a lead have a name in them, which may be anything; Telegram keeps a hundred entities, and the message has some. */
const NOTE_ENTITIES = 5;

const countIn = (text: string, part: RegExp): number => text.match(part)?.length ?? 0;

/** How many entities are left. Texts are escaped: every tag is ours. */
const roomIn = (html: string): number => Math.min(NOTE_ENTITIES, ENTITIES_MAX - countIn(html, /<[a-z]/g));

/** Right below the title, where people look first; below everything where that is one line, or its markup goes on. */
const belowTitle = (text: string, note: string, isHtml: boolean): string => {
  const end = text.indexOf('\n');
  const title = text.slice(0, Math.max(0, end));
  const isWhole = !isHtml || countIn(title, /<[a-z]/g) === countIn(title, /<\//g);
  return end > 0 && isWhole ? `${title}\n${note}${text.slice(end)}` : `${text}\n\n${note}`;
};

/** Telegram drops the last ones beyond a hundred, and what they cover becomes clickable. */
const noteHtml = (note: Line, html: string): string => {
  const limit = roomIn(html);
  // It has been: no time of it is ahead.
  const line = lineOf(note, Number.POSITIVE_INFINITY);
  return toHtml(limit > 0 ? disarm([line], limit) : [[{ text: withoutClickable(lineToPlain(line)) }]]);
};

/** In the place of the sign, which is bold, or within a block of code where the title has too many entities. */
const withLead = (text: string, lead: string, isHtml: boolean): string => {
  const [before, after] = aroundSign(text);
  const said = `${lead} · `;
  if (!isHtml) return `${before}${withoutClickable(said)}${after}`;
  const isBold = countIn(before, /<b>/g) > countIn(before, /<\/b>/g);
  const isCode = countIn(before, /<pre>/g) > countIn(before, /<\/pre>/g);
  // The bold around it is parted.
  const parts = disarm([[{ text: said, mark: 'b' }]], Number.POSITIVE_INFINITY);
  if (isCode || entitiesIn(parts) >= roomIn(text))
    return `${before}${toHtml([[{ text: withoutClickable(said) }]])}${after}`;
  const own = toHtml(parts);
  return isBold ? `${before}</b>${own}<b>${after}`.replace('<b></b>', '') : `${before}${own}${after}`;
};

/** Undefined where the text has no room for it. */
const withNote = (body: TelegramBody, { lead, note = [] }: Annotation): string | undefined => {
  const { text, parse_mode, file, isCaption } = body;
  const isHtml = parse_mode === 'HTML';
  const titled = lead === undefined ? text : withLead(text, lead, isHtml);
  const longer = belowTitle(titled, isHtml ? noteHtml(note, titled) : withoutClickable(lineText(note)), isHtml);
  return longer.length <= (file || isCaption ? LONGEST.caption : LONGEST.text) ? longer : undefined;
};

const put = (body: TelegramBody, annotation: Annotation): TelegramBody => {
  const { token, buttons, note, lead = lineText(note ?? []) } = annotation;
  const text = note === undefined ? body.text : withNote(body, annotation);
  // A note without room in the text becomes a button, which says the same when it is pressed.
  const noted = note !== undefined && text === undefined ? [{ name: 'acknowledge' as const, label: lead }] : [];
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
