/**
 * Alerts as Telegram messages: one for each incident, or one digest. Sources: https://core.telegram.org/bots/api#sendmessage
 * and #senddocument
 */
import type { Alert, Parcel } from '../../alert.ts';
import type { Sliced } from '../../slices.ts';
import type { ComposeContext, Format, Message } from '../channel.ts';
import type { Content } from '../content.ts';
import { describeDigest } from '../digest.ts';
import type { DigestContent } from '../digest-content.ts';
import type { DigestFile } from '../digest-file.ts';
import { describeIncident } from '../incident-content.ts';
import { planOf, toMessage } from '../incidents.ts';
import { layOutDigest, minimalDigest, minimalParts } from './digest.ts';
import { type Line, toHtml, toPlain } from './lines.ts';
import { layOut, minimalLines } from './single.ts';

export interface TelegramBody {
  /** The text, or the caption of `file`. */
  text: string;
  /** Absent: `text` is plain. */
  parse_mode?: 'HTML';
  /** What did not fit, as further messages: a stored notification is delivered whole. */
  continuations?: string[];
  /** Sent as a document; never together with `continuations`. */
  file?: DigestFile;
}

const markupOf = (format: Format): Pick<TelegramBody, 'parse_mode'> =>
  format === 'rich' ? { parse_mode: 'HTML' } : {};

const write = (lines: readonly Line[], format: Format): string => (format === 'rich' ? toHtml(lines) : toPlain(lines));

const singleBody = (content: Content, format: Format): TelegramBody => {
  if (format === 'minimal') return { text: toPlain(minimalLines(content)) };
  const { lines, continuations } = layOut(content, format);
  return {
    text: write(lines, format),
    ...markupOf(format),
    ...(continuations.length > 0 ? { continuations: continuations.map((part) => write(part, format)) } : {}),
  };
};

function* digestBody(content: DigestContent, format: Format): Sliced<TelegramBody> {
  if (format === 'minimal') return { text: toPlain(minimalDigest(content)) };
  const { lines, file } = yield* layOutDigest(content);
  return { text: write(lines, format), ...markupOf(format), ...(file ? { file } : {}) };
}

/** The messages of a parcel. A digest is one message; the minimal format has no file, so it takes as many as its hashes need. */
export function* composeTelegram(
  { destination, alerts }: Parcel,
  { chains, sentAt, format }: ComposeContext,
): Sliced<Message<TelegramBody>[]> {
  const digest = (part: readonly Alert[]): Sliced<DigestContent> => describeDigest(part, chains, sentAt);
  const messages: Message<TelegramBody>[] = [];
  for (const plan of planOf(alerts)) {
    if (plan.as === 'single') {
      const content = yield* describeIncident(plan.alerts, chains, sentAt);
      messages.push(toMessage(destination, plan.alerts, singleBody(content, format), false));
      continue;
    }
    const parts = format === 'minimal' ? yield* minimalParts(plan.alerts, digest) : [plan.alerts];
    for (const part of parts) {
      messages.push(toMessage(destination, part, yield* digestBody(yield* digest(part), format), true));
    }
  }
  return messages;
}
