/**
 * What people read of one message, before any markup. The order of its parts is the same for every kind: title, what
 * happened, notice, who and what, times, links, details. Every text is cleaned of invisible characters but not escaped, and
 * any of them may hold text from outside; each kind escapes for its own markup.
 */
import { beginningOf } from '../../text.ts';
import type { Tone } from './severity.ts';

/** How a message has grown since it was sent. */
export interface Growth {
  times: number;
  /** Epoch milliseconds: the last time. */
  at: number;
}

/** Part of a line. Parts stand beside each other without a space between them. */
export interface Piece {
  text: string;
  /** An identifier or a name from the chain: no kind makes a link or a mention of what is in it. */
  code?: true | undefined;
  /** An https URL of an explorer. */
  url?: string | undefined;
  /** The whole of a value whose `text` is shortened: what a reader copies. */
  copy?: string | undefined;
  /** Epoch milliseconds: a kind that knows its reader's clock shows this instead of `text`. */
  at?: number | undefined;
}

export type Line = readonly Piece[];

export interface Detection {
  /** As the service spells it. */
  id: string;
  /** `Flash loan`; of an incident, with the protocols that it holds for unless it holds for all. */
  name: string;
  /** From outside; may be empty. */
  message: string;
  /** What stands between name and message. Default: as the kind has it. */
  between?: string;
  /** Characters that are not in the message: the service gave more than any kind shows. */
  leftOut?: number | undefined;
}

export interface ContentLink {
  label: string;
  /** https only. */
  url: string;
}

/** Of the folded part. Labels may repeat: each contract is a fact. */
export interface Fact {
  label: string;
  /** Alone, so that it can be copied. */
  value: string;
  code?: true;
  /** What is said of the value; from outside, or ours. */
  note?: string | undefined;
  url?: string | undefined;
  /** In an incident of several protocols, true for what is of one of them: it stands below that protocol. */
  isOfOne?: true;
  /** What follows stands below it. */
  isHeading?: true;
}

/** Labels of the facts that even the plainest message has. */
export const INDISPENSABLE: ReadonlySet<string> = new Set([
  ...['Transaction', 'Sent', 'Protocol', 'Inspection', 'Notification'],
]);

/** Values to copy, the indispensable first. */
export const codesOf = ({ details }: { details: readonly Fact[] }): Fact[] => {
  const { first = [], others = [] } = Object.groupBy(
    details.filter(({ code }) => code),
    ({ label }) => (INDISPENSABLE.has(label) ? 'first' : 'others'),
  );
  return [...first, ...others];
};

export interface Content {
  /** `CRITICAL`, `NOTIFICATION`, `NO LONGER LISTED`, `TEST`, `TOCSIN` ... */
  severity: string;
  tone: Tone;
  /** `🔴` */
  sign: string;
  /** `CRITICAL`, or `CRITICAL (old alert)`: a replay must not wake anybody as if it were news. `OK (was CRITICAL)`. */
  word: string;
  /** The severity in the message that people had before; absent where it is the same. */
  was?: string | undefined;
  /** It follows a message that people had; the notice says what changed, in place of what happened. */
  isFollowUp?: true;
  /** Set by the config before the title: `[staging]`. */
  prefix?: string | undefined;
  protocol: string;
  /** The contract that was touched, or `Pool A + 2 more`. */
  contract?: string | undefined;
  /** `Lending Pool · Pool A` */
  where: string;
  /** `🔴 CRITICAL · Lending Pool · Pool A` */
  title: string;
  /** What a mail's subject says in place of `where`. */
  subject?: string | undefined;
  /** True where a template of the config words the title: it stands as it is. */
  isTitled?: true;
  /** What happened in one line, in the words of the service; bounded. */
  happened: string;
  /** The same among words of ours: in quotes where it is from outside. */
  said: string;
  /** `title: said`, for a push message. */
  headline: string;
  /** Ours: why the reader gets this in an unusual way or again. */
  notice?: string | undefined;
  /**
   * What is shown first of what was found, from outside: what each detector says, of several protocols what each found. Each in
   * one line, with addresses and hashes short.
   */
  gist: Detection[];
  /** Of an incident of several protocols, how many: `gist` has a line for each of the first ten. */
  protocols?: number | undefined;
  /** From outside: the detectors that fired, in full. */
  detections: Detection[];
  /** The whole text of a stored notification, from outside; or of an announcement, ours. */
  message?: string | undefined;
  /** Our own message again, line by line: commands are code, transactions are linked. An empty line parts what it says. */
  messageLines?: Line[] | undefined;
  /** True where `message` is our own. */
  isOurs: boolean;
  /** Who and what. */
  lines: Line[];
  /** `02:40:47 UTC · inspected +14 s · sent +15 s` */
  times: Line;
  /** Each helps to look further; at most a handful. */
  links: ContentLink[];
  details: Fact[];
}

/**
 * Where the notice stands: below what happened, as that is what a locked phone has room for. It stands above where it is
 * what happened: of a follow-up, and of a test, which says that nothing did.
 */
export const noticesOf = ({ notice, tone, isFollowUp }: Content): { above: string[]; below: string[] } => {
  const all = notice === undefined ? [] : [notice];
  return tone === 'test' || isFollowUp ? { above: all, below: [] } : { above: [], below: all };
};

/** The text of a line as it is read. */
export const lineText = (line: Line): string => line.map(({ text }) => text).join('');

/** With at most so many UTF-16 units of what the detector says; the rest is counted. */
export const boundDetection = (detection: Detection, limit: number): Detection => {
  const { message, leftOut = 0 } = detection;
  if (message.length <= limit) return detection;
  const kept = beginningOf(message, limit);
  return { ...detection, message: kept, leftOut: leftOut + message.length - kept.length };
};

/** Each part with its share of the room: the longest give way first, so that a long one does not push out the others. */
export const fairShares = <T>(
  parts: readonly T[],
  lengthOf: (part: T) => number,
  room: number,
): [part: T, share: number][] => {
  const lengths = parts.map(lengthOf);
  if (lengths.reduce((sum, length) => sum + length, 0) <= room)
    return parts.map((part, index) => [part, lengths[index] ?? 0]);
  let left = Math.max(0, room);
  let open = lengths.length;
  let share = 0;
  for (const length of lengths.toSorted((a, b) => a - b)) {
    share = Math.floor(left / open);
    if (length > share) break;
    left -= length;
    open -= 1;
    share = length;
  }
  return parts.map((part, index) => [part, Math.min(lengths[index] ?? 0, share)]);
};
