/** What was posted where: channels by name and id, and the messages that others may belong to. */
import { createHash } from 'node:crypto';
import type { JsonValue } from '../../json.ts';

interface PostedMessage {
  channelId: string;
  /** Blocks and attachments, as they are now. */
  content: JsonValue;
  /** Of a reply: its thread's first message. */
  threadTs?: string;
}

export interface Posted {
  /** The id of a channel; one that is given by name has an id of its own. */
  idOf(channel: string): string;
  /** How senders address the channel of an id. */
  destinationOf(channelId: string): string;
  add(ts: string, message: PostedMessage): void;
  has(channelId: string, ts: string): boolean;
  /** Undefined where it was not posted there. */
  get(channelId: string, ts: string): PostedMessage | undefined;
  /** Slack's error for a reply to this message; undefined where it may be replied to. */
  findThreadProblem(channelId: string, threadTs: string | undefined): string | undefined;
}

export const CHANNEL_ID = /^[CGDU][A-Z0-9]{5,20}$/;

/** Messages that can be replied to and edited; older ones are forgotten. */
const KEPT_MAX = 10_000;

export const createPosted = (): Posted => {
  const messages = new Map<string, PostedMessage>();
  const names = new Map<string, string>();

  const find = (channelId: string, ts: string): PostedMessage | undefined => {
    const message = messages.get(ts);
    return message?.channelId === channelId ? message : undefined;
  };

  return {
    idOf: (channel) => {
      if (CHANNEL_ID.test(channel)) return channel;
      const id = `C0${createHash('sha256').update(channel).digest('hex').slice(0, 9).toUpperCase()}`;
      names.set(id, channel);
      return id;
    },
    destinationOf: (channelId) => names.get(channelId) ?? channelId,
    add: (ts, message) => {
      messages.set(ts, message);
      const [oldest = ''] = messages.keys();
      if (messages.size > KEPT_MAX) messages.delete(oldest);
    },
    has: (channelId, ts) => find(channelId, ts) !== undefined,
    get: find,
    findThreadProblem: (channelId, threadTs) => {
      if (threadTs === undefined) return undefined;
      if (!/^\d+\.\d+$/.test(threadTs)) return 'invalid_thread_ts';
      const parent = find(channelId, threadTs);
      if (!parent) return 'thread_not_found';
      // Slack takes a reply to a reply, and then shows it nowhere.
      return parent.threadTs === undefined ? undefined : 'cannot_reply_to_message';
    },
  };
};
