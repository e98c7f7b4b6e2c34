/**
 * The file of a digest. We upload it before we post anything, so that a token without the permission costs nothing, and
 * share it last, in the digest's thread. Source: docs.slack.dev/messaging/working-with-files, "Uploading files".
 */

import { DeliveryError } from '../../errors.ts';
import { statusText } from '../../http-status.ts';
import type { DigestFile } from '../digest-file.ts';
import type { GuardedPost } from '../http.ts';
import type { Call } from './call.ts';
import type { Place } from './place.ts';
import { fileFailure } from './verdicts.ts';

export interface Files {
  /** Uploads the file, which nobody sees yet; returns its id. */
  upload(file: DigestFile, signal: AbortSignal): Promise<string>;
  /** Shows an uploaded file in the thread of a message. */
  share(id: string, file: DigestFile, place: Place, signal: AbortSignal): Promise<void>;
}

const badUpload = (message: string, code: string): DeliveryError => new DeliveryError('bad-message', message, { code });

/** Slack's answer names the host, so it comes from outside: the guard checks it, and it does not get the token. */
const putBytes = async (post: GuardedPost, url: string, { text }: DigestFile, signal: AbortSignal): Promise<void> => {
  const headers = { 'content-type': 'text/plain; charset=utf-8', 'user-agent': 'tocsin' };
  const { status } = await post({ url, headers, body: text, signal }).catch((error: DeliveryError) => {
    // A firewall may allow Slack's API but not its file host: the digest must not wait for that.
    throw signal.aborted ? error : badUpload(error.message, error.code);
  });
  if (status < 200 || status > 299) throw badUpload(`Slack's file host answered ${statusText(status)}`, String(status));
};

export const createFiles = (call: Call, post: GuardedPost, timeoutMs: number): Files => ({
  upload: async (file, signal) => {
    try {
      const args = { filename: file.name, length: Buffer.byteLength(file.text) };
      const { upload_url: url, file_id: id } = await call('files.getUploadURLExternal', args, signal);
      if (typeof url !== 'string' || typeof id !== 'string') throw badUpload('Slack named no upload URL', 'unreadable');
      await putBytes(post, url, file, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
      return id;
    } catch (error) {
      throw fileFailure(error, false);
    }
  },
  share: async (id, { name }, { channel, thread }, signal) => {
    try {
      const args = { files: [{ id, title: name }], channel_id: channel, thread_ts: thread };
      await call('files.completeUploadExternal', args, signal);
    } catch (error) {
      throw fileFailure(error, true);
    }
  },
});

export interface FilePermits {
  /** Whether a file may go to this channel, as far as we know. */
  may(address: string): boolean;
  /** The scopes of the token. */
  learn(scopes: readonly string[]): void;
  /** Slack refused a file for this channel. */
  refuse(address: string): void;
}

/** By then somebody may have granted the scope, or invited the bot to the channel. */
const ASK_AGAIN_MS = 3_600_000;

export const createFilePermits = (now: () => number): FilePermits => {
  let scoped = true;
  const refusedUntil = new Map<string, number>();
  return {
    may: (address) => scoped && now() >= (refusedUntil.get(address) ?? 0),
    learn: (scopes) => {
      scoped = scopes.some((scope) => scope.startsWith('files:write'));
    },
    refuse: (address) => void refusedUntil.set(address, now() + ASK_AGAIN_MS),
  };
};
