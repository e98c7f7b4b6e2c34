/** Messages by the bot token: new ones, replies, messages with a file, and changes of earlier messages. */
import { type Alert, isAnnouncement, isPlayedDown } from '../../alert.ts';
import { createBoundedMap } from '../../bounded-map.ts';
import { DeliveryError, factsOf } from '../../errors.ts';
import { statusText } from '../../net.ts';
import type { Message, Receipt } from '../channel.ts';
import type { DigestFile } from '../digest-content.ts';
import type { GuardedPost } from '../http.ts';
import { formatPlace, type Place, parsePlace } from './address.ts';
import type { SlackBody } from './blocks.ts';
import { type Call, fileFailure, isThreadRefusal } from './call.ts';

/** Slack must not turn words into mentions, nor show previews of links. */
const AS_WRITTEN = { parse: 'none', link_names: false };
export const WITHOUT_PREVIEWS = { ...AS_WRITTEN, unfurl_links: false, unfurl_media: false };

/** Posted digests whose file is not shared yet. The oldest beyond this number are posted again on a retry. */
const REMEMBERED_DIGESTS = 500;

/** `place`: absent if Slack's answer does not say. */
const postedOf = ({ channel, ts }: Record<string, unknown>, thread?: string): { receipt: Receipt; place?: Place } => {
  if (typeof ts !== 'string') return { receipt: {} };
  if (typeof channel !== 'string') return { receipt: { providerId: ts } };
  const place = { channel, ts, thread: thread ?? ts };
  return { receipt: { providerId: ts, handle: formatPlace(place) }, place };
};

type Posted = ReturnType<typeof postedOf>;

/** In a thread only those hear of it who follow the thread: what asks for somebody stands in the channel, too. */
const isForAll = (alerts: readonly Alert[]): boolean =>
  alerts.some((alert) => !isAnnouncement(alert) && !isPlayedDown(alert));

const badMessage = (message: string, code: string): DeliveryError =>
  new DeliveryError('bad-message', message, { code });

export const createBot = (call: Call, files: Files, permits: Pick<FilePermits, 'refuse'>) => {
  /** As a reply to the message that it belongs to, or by itself if Slack takes no reply there. */
  const post = async (
    { destination, body, replyTo, alerts }: Message<SlackBody>,
    signal: AbortSignal,
  ): Promise<Posted> => {
    const { file: _file, ...content } = body;
    const args = { channel: destination.address, ...content, ...WITHOUT_PREVIEWS };
    const { thread } = (replyTo === undefined ? undefined : parsePlace(replyTo)) ?? {};
    if (thread !== undefined) {
      try {
        const reply = { ...args, thread_ts: thread, ...(isForAll(alerts) && { reply_broadcast: true }) };
        return postedOf(await call('chat.postMessage', reply, signal), thread);
      } catch (error) {
        if (!isThreadRefusal(error)) throw error;
      }
    }
    return postedOf(await call('chat.postMessage', args, signal));
  };

  /** By message id: if only the file failed, a retry must not post the message again. */
  const unfinished = createBoundedMap<string, Posted>(REMEMBERED_DIGESTS);

  const sendWithFile = async (message: Message<SlackBody>, file: DigestFile, signal: AbortSignal): Promise<Receipt> => {
    const { id, destination } = message;
    /** After a refusal another message is composed, which may have the same id. */
    const giveUp = (error: unknown): never => {
      if (error instanceof DeliveryError && factsOf(error.reason).next === 'plainer') {
        unfinished.delete(id);
        permits.refuse(destination.address);
      }
      throw error;
    };
    const fileId = await files.upload(file, signal).catch(giveUp);
    const posted = unfinished.get(id) ?? (await post(message, signal));
    if (!posted.place) return giveUp(badMessage('Slack did not say where the message stands', 'unreadable'));
    unfinished.set(id, posted);
    await files.share(fileId, file, posted.place, signal).catch(giveUp);
    unfinished.delete(id);
    return posted.receipt;
  };

  return {
    send: async (message: Message<SlackBody>, signal: AbortSignal): Promise<Receipt> => {
      const { file } = message.body;
      return file === undefined ? (await post(message, signal)).receipt : sendWithFile(message, file, signal);
    },
    amend: async (handle: string, { body }: Message<SlackBody>, signal: AbortSignal): Promise<Receipt> => {
      const { text, blocks, attachments = [], file } = body;
      const rest = file && 'isRest' in file ? file : undefined;
      const place = parsePlace(handle);
      if (!place) throw badMessage('the earlier message cannot be found by its handle', 'bad_handle');
      // Without blocks Slack would read the text as markup: `chat.update` has no `mrkdwn`.
      if (!blocks || file !== rest)
        throw badMessage('only blocks can take the place of another message', 'not_amended');
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

// The file of a digest. We upload it before we post anything, so that a token without the permission costs nothing, and
// share it last, in the digest's thread. Source: docs.slack.dev/messaging/working-with-files, "Uploading files".

/** Slack's answer names the host, so it comes from outside: the guard checks it, and it does not get the token. */
const putBytes = async (post: GuardedPost, url: string, { text }: DigestFile, signal: AbortSignal): Promise<void> => {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'user-agent': 'tocsin' };
  const { status } = await post({ url, headers, body: text, signal }).catch((error: DeliveryError) => {
    // A firewall may allow Slack's API but not its file host: the digest must not wait for that.
    throw signal.aborted ? error : badMessage(error.message, error.code);
  });
  if (status < 200 || status > 299)
    throw badMessage(`Slack's file host answered ${statusText(status)}`, String(status));
};

export const createFiles = (call: Call, post: GuardedPost, timeoutMs: number) => ({
  /** Uploads the file, which nobody sees yet; returns its id. */
  upload: async (file: DigestFile, signal: AbortSignal): Promise<string> => {
    try {
      const args = { filename: file.name, length: Buffer.byteLength(file.text) };
      const { upload_url: url, file_id: id } = await call('files.getUploadURLExternal', args, signal);
      if (typeof url !== 'string' || typeof id !== 'string')
        throw badMessage('Slack named no upload URL', 'unreadable');
      await putBytes(post, url, file, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      return id;
    } catch (error) {
      throw fileFailure(error, false);
    }
  },
  /** Shows an uploaded file in the thread of a message. */
  share: async (id: string, { name }: DigestFile, { channel, thread }: Place, signal: AbortSignal): Promise<void> => {
    try {
      const args = { files: [{ id, title: name }], channel_id: channel, thread_ts: thread };
      await call('files.completeUploadExternal', args, signal);
    } catch (error) {
      throw fileFailure(error, true);
    }
  },
});

type Files = ReturnType<typeof createFiles>;

/** By then somebody may have granted the scope, or invited the bot to the channel. */
const ASK_AGAIN_MS = 3_600_000;

/** Whether a file may go to a channel, as far as we know. */
export const createFilePermits = (now: () => number) => {
  let scoped = true;
  const refusedUntil = new Map<string, number>();
  return {
    may: (address: string): boolean => scoped && now() >= (refusedUntil.get(address) ?? 0),
    learn: (scopes: readonly string[]): void => {
      scoped = scopes.some((scope) => scope.startsWith('files:write'));
    },
    /** Slack refused a file for this channel. */
    refuse: (address: string): void => void refusedUntil.set(address, now() + ASK_AGAIN_MS),
  };
};

type FilePermits = ReturnType<typeof createFilePermits>;
