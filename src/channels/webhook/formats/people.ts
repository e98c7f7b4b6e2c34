/** Formats that people read: one message for each incident, and one digest for many, as in the other kinds for people. */
import { shorten } from '../../../text.ts';
import type { Format } from '../../channel.ts';
import type { Content } from '../../content/content.ts';
import { describeIncident } from '../../content/describe.ts';
import { ownTitled } from '../../content/heading.ts';
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
    single: (content: Content, format: Format, isSilent: boolean) => WebhookBody,
    digest: (content: DigestContent, format: Format) => WebhookBody,
  ): FormatModule['compose'] =>
  (parcel, context) =>
    messagesOf(parcel, {
      *single(alerts) {
        const content = ownTitled(yield* describeIncident(alerts, wordingOf(context)));
        return single(content, context.format, alerts.every(isSilent));
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

/** A text in parts of at most `size` UTF-16 units, split at ends of lines where there are any; never half a character. */
export const partsOf = (text: string, size: number): string[] => {
  const parts: string[] = [];
  let rest = text;
  while (rest.length > size) {
    const line = rest.lastIndexOf('\n', size);
    const end = line > size / 2 ? line : size;
    const cut = /[\ud800-\udbff]/.test(rest[end - 1] ?? '') ? end - 1 : end;
    parts.push(rest.slice(0, cut).trimEnd());
    rest = rest.slice(cut).trimStart();
  }
  return rest === '' && parts.length > 0 ? parts : [...parts, rest];
};

/** Of a text of 256 kB the rest is at the service. */
const PARTS_MAX = 10;

/** A message of several, of a text that is too long for one. */
interface TextPart {
  text: string;
  /** `part 2 of 3`, and what is missing; empty where there is only one. */
  remark: string;
}

/** A long text in as few parts as fit. Never empty. */
export const splitText = (
  text: string,
  sizes: readonly number[],
  fits: (part: string) => boolean,
): [first: TextPart, ...others: TextPart[]] => {
  const all = firstThatFits(
    sizes,
    (size) => partsOf(text, size),
    (parts) => parts.every(fits),
  );
  const of = Math.min(all.length, PARTS_MAX);
  const cut = all.slice(of).join('\n').length;
  const remarkOf = (part: number): string => {
    if (of === 1) return '';
    const rest = part === of && cut > 0 ? `; ${cut} characters more are at the service` : '';
    return `part ${part} of ${of}${rest}`;
  };
  const [first = '', ...others] = all.slice(0, of);
  return [
    { text: first, remark: remarkOf(1) },
    ...others.map((part, index): TextPart => ({ text: part, remark: remarkOf(index + 2) })),
  ];
};

const NEWS_LIMIT = 500;

/** Of a follow-up, which quotes nobody. */
export const newsOf = ({ isFollowUp, happened }: Content): string => (isFollowUp ? shorten(happened, NEWS_LIMIT) : '');
