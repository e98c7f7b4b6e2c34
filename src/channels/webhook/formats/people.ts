/** Formats that people read: one message for each incident, and one digest for many, as in the other kinds for people. */
import type { Alert } from '../../../alert.ts';
import { beginningOf } from '../../../text.ts';
import type { Format } from '../../channel.ts';
import type { Content } from '../../content/content.ts';
import { describeIncident } from '../../content/describe.ts';
import { ownTitled } from '../../content/heading.ts';
import { describeNews } from '../../content/news.ts';
import { wordingOf } from '../../content/reading.ts';
import { isSilent } from '../../content/severity.ts';
import { describeDigest } from '../../digest.ts';
import type { DigestContent } from '../../digest-content.ts';
import { messagesOf } from '../../incidents.ts';
import type { FormatModule, WebhookBody } from './format.ts';

/**
 * The messages of a parcel in a format that people read: one for each incident, or a digest of more than five. `single` and
 * `digest` give the body, within the vendor's limits; `isSilent`: without a sound, where the product can do that. Throws what
 * they throw; the stage `compose` then goes on more plainly.
 */
export const composeForPeople =
  (
    single: (content: Content, format: Format, isSilent: boolean, alerts: readonly Alert[]) => WebhookBody,
    digest: (content: DigestContent, format: Format) => WebhookBody,
  ): FormatModule['compose'] =>
  (parcel, context) =>
    messagesOf(parcel, {
      *single(alerts) {
        const wording = wordingOf(context);
        const described =
          context.heard === undefined
            ? yield* describeIncident(alerts, wording)
            : yield* describeNews(alerts, context.heard, wording);
        const content = ownTitled(described);
        return single(content, context.format, alerts.every(isSilent), alerts);
      },
      *digest(alerts) {
        return digest(yield* describeDigest(alerts, wordingOf(context), context.storm), context.format);
      },
    });

/** The first of `sizes` at which what `make` gives fits; the last where none does. */
export const firstThatFits = <T>(
  sizes: readonly number[],
  make: (size: number) => T,
  fits: (made: T) => boolean,
): T => {
  const [size = 0, ...smaller] = sizes;
  const made = make(size);
  return smaller.length === 0 || fits(made) ? made : firstThatFits(smaller, make, fits);
};

/** At most `size` UTF-16 units, cut at an end of a line where there is one. */
const beginningWithin = (text: string, size: number): string => {
  const cut = beginningOf(text, size);
  const line = cut.lastIndexOf('\n');
  return text.length > size && line > size / 2 ? cut.slice(0, line) : cut;
};

/** As much of a text as fits, for one message has to do; `remark`: how much is missing. */
export const fittedText = (
  text: string,
  sizes: readonly number[],
  fits: (part: string) => boolean,
  where = 'at the service',
): { text: string; remark: string } => {
  const shown = firstThatFits(sizes, (size) => beginningWithin(text, size), fits);
  const missing = text.length - shown.length;
  const remark = missing === 0 ? '' : `${missing.toLocaleString('en')} characters more are ${where}`;
  return { text: shown, remark };
};
