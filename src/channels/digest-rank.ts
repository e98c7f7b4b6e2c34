/** How urgent an incident is beside others of the same severity: by what happened, not by when. Pure. */
import type { Content, Detection } from './content/content.ts';
import type { Finding } from './content/finding.ts';
import { remembersLong } from './content/lines.ts';
import type { DigestItem } from './digest-content.ts';

/** What the reader is told of why it ranks high, and how much it counts. */
interface Weight {
  reason: string;
  weight: number;
}

const TRIGGER_MATCHED = 'trigger matched';

/** Longer texts state what matters at their beginning. */
const LOOKED_AT = 500;
/** A whole number as it is written, with separators of thousands or decimals: `1,100%` is not 100 %. */
const PERCENT = /(?<![\d.,])(\d+(?:[.,]\d+)*)\s?%/g;
const THOUSANDS = /^\d{1,3}(?:,\d{3})+(?=\.|$)/;

/** NaN for what is no number. A comma before three digits parts thousands, any other one decimals. */
const numberIn = (digits: string): number =>
  Number(THOUSANDS.test(digits) ? digits.replaceAll(',', '') : digits.replace(',', '.'));

/** The largest percentage up to 100 that a detector or a text states; 0 where none does. More than all of something is no share. */
export const statedPercent = (detections: readonly Pick<Detection, 'message'>[]): number =>
  Math.max(
    0,
    ...detections
      .flatMap(({ message }) => [...message.slice(0, LOOKED_AT).matchAll(PERCENT)])
      .map(([, digits = '']) => numberIn(digits))
      .filter((percent) => percent <= 100),
  );

const percentText = (percent: number): string => `${Math.round(percent)} %`;

// It weighs at most as much as an admin: the text comes from outside.
const sizeWeights = (percent: number): Weight[] =>
  percent >= 1 ? [{ reason: percentText(percent), weight: percent / 25 }] : [];

const weightsOf = ({ methods, origins, first, triggers }: Finding, percent: number, now: number): Weight[] => [
  ...(methods.some(({ isPrivileged }) => isPrivileged) ? [{ reason: 'privileged call', weight: 8 }] : []),
  ...(origins.some(({ adminOf = [] }) => adminOf.length > 0) ? [{ reason: 'origin is an admin', weight: 4 }] : []),
  ...(first.origin && remembersLong(first, now) ? [{ reason: 'new origin', weight: 2 }] : []),
  ...(triggers.length > 0 ? [{ reason: TRIGGER_MATCHED, weight: 2 }] : []),
  ...sizeWeights(percent),
];

export interface Rank {
  /** Higher is more urgent. */
  score: number;
  /** The heaviest first. */
  reasons: string[];
}

const rankBy = (weights: readonly Weight[]): Rank => ({
  score: weights.reduce((sum, { weight }) => sum + weight, 0),
  reasons: weights.toSorted((a, b) => b.weight - a.weight).map(({ reason }) => reason),
});

/** `now`: the time of sending, in epoch milliseconds. */
export const rankOfFinding = (finding: Finding, detections: readonly Detection[], now: number): Rank =>
  rankBy(weightsOf(finding, statedPercent(detections), now));

/** Of a stored notification, by what it states itself. What we announce is never ranked above another announcement. */
export const rankOfText = ({ message = '', isOurs }: Pick<Content, 'message' | 'isOurs'>): Rank =>
  rankBy(isOurs ? [] : sizeWeights(statedPercent([{ message }])));

/** What every message shows of an item's words. */
const SEEN = 90;

type Ranked = Pick<DigestItem, 'reasons' | 'happened' | 'detections' | 'message'>;

/** In whichever of its words a message shows: those of all detectors in a line, or those of the first. */
const isStated = ({ happened, detections, message = '' }: Ranked, reason: string): boolean => {
  const first = detections.find((one) => one.message !== '')?.message ?? message;
  return [happened, first].every((text) => percentText(statedPercent([{ message: text.slice(0, SEEN) }])) === reason);
};

/** Which of an item's reasons a message says beside it. That a trigger matched says nothing where it did for `all`. */
export const remarksBeside = (all: readonly Pick<Ranked, 'reasons'>[]): ((item: Ranked) => string[]) => {
  const isCommon = all.length > 1 && all.every(({ reasons }) => reasons.includes(TRIGGER_MATCHED));
  return (item) =>
    item.reasons.filter((reason) => !(isCommon && reason === TRIGGER_MATCHED) && !isStated(item, reason));
};
