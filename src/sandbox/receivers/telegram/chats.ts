/** What the bot's chats hold, as far as replies and edits need to know. */
import type { TelegramEntity } from './html.ts';
import type { TelegramButton } from './keyboard.ts';

export interface HeldMessage {
  /** `CHAT` or `CHAT/TOPIC`. */
  destination: string;
  text: string;
  entities: TelegramEntity[];
  keyboard?: TelegramButton[][];
  /** Its text is the caption of a document. */
  isDocument: boolean;
}

export interface Chats {
  /** Gives the new message's id; ids are unique in all chats. */
  add(chatId: string, message: HeldMessage): number;
  get(chatId: string, messageId: number): HeldMessage | undefined;
}

/** Of each chat the last thousand messages are known. */
const KNOWN = 1000;

export const createChats = (): Chats => {
  let lastId = 0;
  const chats = new Map<string, Map<number, HeldMessage>>();
  return {
    add: (chatId, message) => {
      lastId += 1;
      const chat = chats.get(chatId) ?? new Map<number, HeldMessage>();
      chats.set(chatId, chat.set(lastId, message));
      for (const oldest of chat.keys()) if (chat.size > KNOWN) chat.delete(oldest);
      return lastId;
    },
    get: (chatId, messageId) => chats.get(chatId)?.get(messageId),
  };
};
