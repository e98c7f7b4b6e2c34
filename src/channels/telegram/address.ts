/** Where a Telegram message goes: a chat and, in a forum, one of its topics. Written `CHAT` or `CHAT/TOPIC`. */

interface ChatAddress {
  /** A chat's id with all its digits (negative for groups and channels), or `@name` of a public one. */
  chat: string;
  /** Absent for the General topic and for chats without topics. */
  topic?: number;
}

/** A 64-bit number, or a public name. Source: https://core.telegram.org/bots/api#sendmessage, `chat_id`. */
const ADDRESS = /^(-?[1-9]\d{0,18}|@[A-Za-z][A-Za-z0-9_]{3,31})(?:\/([1-9]\d{0,9}))?$/;

/** The forum topic that every forum has; naming it is refused with `message thread not found`. */
const GENERAL_TOPIC = 1;
const TOPIC_MAX = 2 ** 31 - 1;

/** The parts of an address, or undefined where it is none. */
export const parseChatAddress = (text: string): ChatAddress | undefined => {
  const [, chat, topicText] = ADDRESS.exec(text) ?? [];
  if (chat === undefined) return undefined;
  const topic = topicText === undefined ? GENERAL_TOPIC : Number(topicText);
  if (topic > TOPIC_MAX) return undefined;
  return topic === GENERAL_TOPIC ? { chat } : { chat, topic };
};

/** The one spelling of an address. */
export const formatChatAddress = ({ chat, topic }: ChatAddress): string =>
  topic === undefined ? chat : `${chat}/${topic}`;
