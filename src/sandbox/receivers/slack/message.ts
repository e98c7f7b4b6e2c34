/** A Slack message as `chat.postMessage` and incoming webhooks check it. */
import { type JsonObject, type JsonValue, parseJson } from '../../json.ts';
import { collectAttachment, findAttachmentProblems } from './attachments.ts';
import { collectTexts, findBlockProblems } from './blocks.ts';
import { displayMrkdwn, findMentions } from './mrkdwn.ts';

export interface SlackMessage {
  /** Top-level text as sent; cut at 40,000 characters as Slack does. */
  text: string;
  blocks: JsonValue[];
  attachments: JsonValue[];
  threadTs?: string;
  /** A reply that stands in the channel, too. */
  isBroadcast?: true;
  /** What would notify somebody, e.g. `<!channel>`. */
  mentions: string[];
}

interface SlackRefusal {
  error: string;
  /** For `response_metadata.messages`. */
  messages: string[];
}

const TEXT_MAX = 40_000;
/** Undocumented; see https://github.com/slackapi/bolt-js/issues/2509. */
const ALL_BLOCKS_TEXT_MAX = 13_200;
const ATTACHMENTS_MAX = 100;

/** Forms carry lists as JSON text. Undefined where the value is neither a list nor such a text. */
const readList = (value: JsonValue | undefined): JsonValue[] | undefined => {
  if (value === undefined || value === '') return [];
  const list = typeof value === 'string' ? parseJson(value) : value;
  return Array.isArray(list) ? list : undefined;
};

export const isRefusal = (message: SlackMessage | SlackRefusal): message is SlackRefusal => 'error' in message;

const refuse = (error: string, messages: string[] = []): SlackRefusal => ({ error, messages });

const attachmentTexts = (attachments: readonly JsonValue[]): string[] => attachments.flatMap(collectAttachment);

/** The text as a reader sees it, top-level text first. */
export const readableText = ({ text, blocks, attachments }: SlackMessage): string =>
  [text, ...collectTexts(blocks), ...attachmentTexts(attachments)].map(displayMrkdwn).join('\n');

const judgeBlocks = (blocks: readonly JsonValue[], attachments: readonly JsonValue[]): SlackRefusal | undefined => {
  const problems = [
    ...findBlockProblems(blocks),
    ...attachments.flatMap((one, index) => findAttachmentProblems(one, `/attachments/${index}`)),
  ];
  if (problems.length > 0)
    return refuse(
      'invalid_blocks',
      problems.map((text) => `[ERROR] ${text}`),
    );
  const all = [...collectTexts([...blocks]), ...attachmentTexts(attachments)];
  return all.join('').length > ALL_BLOCKS_TEXT_MAX ? refuse('msg_blocks_too_long') : undefined;
};

/** With `requireText` a message of blocks alone is refused as well: notifications and old clients would show nothing. */
export const readSlackMessage = (fields: JsonObject, requireText: boolean): SlackMessage | SlackRefusal => {
  const blocks = readList(fields.blocks);
  if (!blocks) return refuse('invalid_blocks_format');
  const attachments = readList(fields.attachments);
  if (!attachments) return refuse('invalid_attachments_format');
  const { text = '', thread_ts: threadTs } = fields;
  if (typeof text !== 'string') return refuse('invalid_arguments', ['[ERROR] text must be a string']);
  if (text.trim() === '' && (requireText || blocks.length + attachments.length === 0)) return refuse('no_text');
  if (attachments.length > ATTACHMENTS_MAX) return refuse('too_many_attachments');
  const refusal = judgeBlocks(blocks, attachments);
  if (refusal) return refusal;
  const mentions = findMentions([text, ...collectTexts(blocks), ...attachmentTexts(attachments)].join('\n'));
  return {
    text: text.slice(0, TEXT_MAX),
    blocks,
    attachments,
    mentions,
    ...(typeof threadTs === 'string' && { threadTs }),
    ...(String(fields.reply_broadcast) === 'true' && { isBroadcast: true }),
  };
};
