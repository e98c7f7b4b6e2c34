/** What a Slack message is made of. */
import type { KnownBlock } from '@slack/types';
import type { DigestFile } from '../digest-file.ts';

export interface SlackBody {
  /** What a phone shows before Slack is opened; the whole message where there are no blocks. */
  text: string;
  blocks?: KnownBlock[];
  /** False: the text is shown as it stands. */
  mrkdwn?: false;
  /** Shown in the message's thread. Only a bot can send one. */
  file?: DigestFile;
}
