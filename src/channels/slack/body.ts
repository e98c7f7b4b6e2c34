/** What a Slack message is made of. */
import type { KnownBlock, MessageAttachment } from '@slack/types';
import type { DigestFile } from '../digest-file.ts';

/** What a message says in full, where it has no room for it. */
export interface RestFile extends DigestFile {
  isRest: true;
}

export interface SlackBody {
  /** The text of the push notification; without blocks, the whole message. */
  text: string;
  blocks?: KnownBlock[];
  /** Shown below the blocks, beside a bar of colour. */
  attachments?: MessageAttachment[];
  /** False: Slack shows the text without formatting it. */
  mrkdwn?: false;
  /** Goes into the message's thread. Only a bot can send one. */
  file?: DigestFile | RestFile;
}
