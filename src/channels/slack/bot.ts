/** Messages by the bot token: new ones, replies, messages with a file, and changes of earlier messages. */
import { DeliveryError } from '../../errors.ts';
import type { Message, Receipt } from '../channel.ts';
import type { DigestFile } from '../digest-file.ts';
import type { SlackBody } from './body.ts';
import type { Call } from './call.ts';
import type { FilePermits, Files } from './files.ts';
import { formatPlace, type Place, parsePlace } from './place.ts';
import { isThreadRefusal } from './verdicts.ts';

export interface BotDependencies {
  call: Call;
  files: Files;
  permits: Pick<FilePermits, 'refuse'>;
}

export interface Bot {
  send(message: Message<SlackBody>, signal: AbortSignal): Promise<Receipt>;
  amend(handle: string, message: Message<SlackBody>, signal: AbortSignal): Promise<Receipt>;
}

interface Posted {
  receipt: Receipt;
  /** Absent if Slack's answer does not say. */
  place?: Place;
}

/** Slack must not turn words into mentions, nor show previews of links. */
const AS_WRITTEN = { parse: 'none', link_names: false };
export const WITHOUT_PREVIEWS = { ...AS_WRITTEN, unfurl_links: false, unfurl_media: false };

/** Posted digests whose file is not shared yet. The oldest beyond this number are posted again on a retry. */
const REMEMBERED_DIGESTS = 500;

const postedOf = ({ channel, ts }: Record<string, unknown>, thread?: string): Posted => {
  if (typeof ts !== 'string') return { receipt: {} };
  if (typeof channel !== 'string') return { receipt: { providerId: ts } };
  const place = { channel, ts, thread: thread ?? ts };
  return { receipt: { providerId: ts, handle: formatPlace(place) }, place };
};

const cannot = (message: string, code: string): DeliveryError => new DeliveryError('bad-message', message, { code });

export const createBot = ({ call, files, permits }: BotDependencies): Bot => {
  /** As a reply to the message that it belongs to, or by itself if Slack takes no reply there. */
  const post = async ({ destination, body, replyTo }: Message<SlackBody>, signal: AbortSignal): Promise<Posted> => {
    const { file: _file, ...content } = body;
    const args = { channel: destination.address, ...content, ...WITHOUT_PREVIEWS };
    const { thread } = (replyTo === undefined ? undefined : parsePlace(replyTo)) ?? {};
    if (thread !== undefined) {
      try {
        return postedOf(await call('chat.postMessage', { ...args, thread_ts: thread }, signal), thread);
      } catch (error) {
        if (!isThreadRefusal(error)) throw error;
      }
    }
    return postedOf(await call('chat.postMessage', args, signal));
  };

  /** By message id: if only the file failed, a retry must not post the message again. */
  const unfinished = new Map<string, Posted>();
  const remember = (id: string, posted: Posted): void => {
    unfinished.set(id, posted);
    for (const oldest of unfinished.keys()) if (unfinished.size > REMEMBERED_DIGESTS) unfinished.delete(oldest);
  };

  const sendWithFile = async (message: Message<SlackBody>, file: DigestFile, signal: AbortSignal): Promise<Receipt> => {
    const { id, destination } = message;
    /** After a refusal another message is composed, which may have the same id. */
    const giveUp = (error: unknown): never => {
      if (error instanceof DeliveryError && error.reason === 'bad-message') {
        unfinished.delete(id);
        permits.refuse(destination.address);
      }
      throw error;
    };
    const fileId = await files.upload(file, signal).catch(giveUp);
    const posted = unfinished.get(id) ?? (await post(message, signal));
    if (!posted.place) return giveUp(cannot('Slack did not say where the message stands', 'unreadable'));
    remember(id, posted);
    await files.share(fileId, file, posted.place, signal).catch(giveUp);
    unfinished.delete(id);
    return posted.receipt;
  };

  return {
    send: async (message, signal) => {
      const { file } = message.body;
      return file === undefined ? (await post(message, signal)).receipt : sendWithFile(message, file, signal);
    },
    amend: async (handle, { body: { text, blocks, attachments = [], file } }, signal) => {
      const rest = file && 'isRest' in file ? file : undefined;
      const place = parsePlace(handle);
      if (!place) throw cannot('the earlier message cannot be found by its handle', 'bad_handle');
      // Without blocks Slack would read the text as markup: `chat.update` has no `mrkdwn`.
      if (!blocks || file !== rest) throw cannot('only blocks can take the place of another message', 'not_amended');
      const { channel, ts } = place;
      const fileId = rest && (await files.upload(rest, signal));
      // Without attachments Slack would leave those of before.
      await call('chat.update', { channel, ts, text, blocks, attachments, ...AS_WRITTEN }, signal);
      // It has more in it than the file of before.
      if (rest && fileId !== undefined) await files.share(fileId, rest, place, signal);
      return { providerId: ts, handle };
    },
  };
};
