/**
 * Alerts as Telegram messages: one for each incident, or one digest. Sources: https://core.telegram.org/bots/api#sendmessage
 * and #senddocument
 */
import type { Alert, Parcel } from '../../alert.ts';
import type { Sliced } from '../../chunks.ts';
import type { ComposeContext, Format, Message } from '../channel.ts';
import type { Content } from '../content/content.ts';
import { describeIncident } from '../content/describe.ts';
import { wordingOf } from '../content/reading.ts';
import { isQuiet } from '../content/severity.ts';
import { describeDigest } from '../digest.ts';
import type { DigestContent, DigestFile } from '../digest-content.ts';
import { planOf, toMessage } from '../incidents.ts';
import { layOutDigest, minimalDigest, minimalParts } from './digest.ts';
import { type Block, blocksToHtml, blocksToPlain, type Keyboard, keyboardOf, toPlain } from './lines.ts';
import { layOut, minimalLines } from './single.ts';

export interface TelegramBody {
  /** The text, or the caption of `file`. */
  text: string;
  /** It changes the caption of a document that was sent before. */
  isCaption?: true;
  /** Absent: `text` is plain. */
  parse_mode?: 'HTML';
  /** Buttons below the first part. */
  reply_markup?: Keyboard;
  /** Arrives without a sound. */
  disable_notification?: true;
  /** What did not fit, as further messages: a stored notification is delivered whole. */
  continuations?: string[];
  /** Sent as a document; never together with `continuations`. */
  file?: DigestFile;
}

const markupOf = (format: Format): Pick<TelegramBody, 'parse_mode'> =>
  format === 'rich' ? { parse_mode: 'HTML' } : {};

const write = (blocks: readonly Block[], format: Format): string =>
  format === 'rich' ? blocksToHtml(blocks) : blocksToPlain(blocks);

/** Buttons may be what a message was refused for, so only the first format has them. */
const buttonsOf = ({ links }: Content, format: Format): Pick<TelegramBody, 'reply_markup'> => {
  const keyboard = format === 'rich' ? keyboardOf(links) : undefined;
  return keyboard === undefined ? {} : { reply_markup: keyboard };
};

/** `sentAt`: epoch milliseconds. */
const singleBody = (content: Content, format: Format, sentAt: number): TelegramBody => {
  if (format === 'minimal') return { text: toPlain(minimalLines(content)) };
  const { blocks, continuations } = layOut(content, format, sentAt);
  return {
    text: write(blocks, format),
    ...markupOf(format),
    ...buttonsOf(content, format),
    ...(continuations.length > 0 ? { continuations: continuations.map((part) => write(part, format)) } : {}),
  };
};

/** `sentAt`: epoch milliseconds. */
function* digestBody(content: DigestContent, format: Format, sentAt: number): Sliced<TelegramBody> {
  if (format === 'minimal') return { text: toPlain(minimalDigest(content)) };
  const { blocks, file } = yield* layOutDigest(content, format, sentAt);
  return { text: write(blocks, format), ...markupOf(format), ...(file ? { file } : {}) };
}

const soundOf = (alerts: readonly Alert[]): Pick<TelegramBody, 'disable_notification'> =>
  alerts.every(isQuiet) ? { disable_notification: true } : {};

/** The messages of a parcel. A digest is one message; the minimal format has no file, so it takes as many as its hashes need. */
export function* composeTelegram(
  { destination, alerts }: Parcel,
  context: ComposeContext,
): Sliced<Message<TelegramBody>[]> {
  const wording = wordingOf(context);
  const { format } = context;
  const digest = (part: readonly Alert[]): Sliced<DigestContent> => describeDigest(part, wording, context.storm);
  const messages: Message<TelegramBody>[] = [];
  for (const plan of planOf(alerts)) {
    if (plan.as === 'single') {
      const content = yield* describeIncident(plan.alerts, wording);
      const body = { ...singleBody(content, format, wording.sentAt), ...soundOf(plan.alerts) };
      messages.push(toMessage(destination, plan.alerts, body, false));
      continue;
    }
    const parts = format === 'minimal' ? yield* minimalParts(plan.alerts, digest) : [plan.alerts];
    for (const part of parts) {
      const body = { ...(yield* digestBody(yield* digest(part), format, wording.sentAt)), ...soundOf(part) };
      messages.push(toMessage(destination, part, body, true));
    }
  }
  return messages;
}
