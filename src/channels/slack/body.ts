/** What a Slack message is made of. */
import type { KnownBlock } from '@slack/types';
import type { DigestFile } from '../digest-file.ts';

export interface SlackBody {
  /** The text of the push notification; without blocks, the whole message. */
  text: string;
  blocks?: KnownBlock[];
  /** False: Slack shows the text without formatting it. */
  mrkdwn?: false;
  /** Goes into the message's thread. Only a bot can send one. */
  file?: DigestFile;
}
