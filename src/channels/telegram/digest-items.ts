/** An incident of a digest in full: every detector's message, and a hash to copy. */
import { cleanLine } from '../../text.ts';
import type { Line as ContentLine } from '../content/content.ts';
import { type DigestItem, detectionText, nameOf } from '../digest-content.ts';
import type { Line } from './lines.ts';
import { lineOf } from './pieces.ts';

const withoutEnd = (text: string): string => cleanLine(text).replace(/[.;\s]+$/, '');

/** Whether `shown` has all that detectors and notifications say. A notification is delivered whole, to its last full stop. */
const isShown = ({ detections, message }: DigestItem, shown: string): boolean =>
  message === undefined ? detections.every((one) => shown.includes(withoutEnd(one.message))) : shown.includes(message);

/** Each in one line that is quoted: no line of it can pass for ours, in plain text neither. */
const saidLines = ({ detections, message, happened }: DigestItem): Line[] => {
  const found = detections.length === 0 ? [happened] : detections.map(detectionText);
  return (message === undefined ? found : [message]).map((text) => [{ text: `> ${cleanLine(text)}` }]);
};

/** Chain, time and the detectors that fired. */
const factsLine = ({ chain, time, at, detectors }: DigestItem): ContentLine => {
  const moment = at === undefined ? { text: time } : { text: time, at };
  const fired = detectors.join(', ');
  return [
    { text: ` ${chain === undefined ? '' : `${chain}, `}` },
    moment,
    ...(fired === '' ? [] : [{ text: `, ${fired}` }]),
  ];
};

export interface WholeItem {
  /** In the list, from 1. */
  number: number;
  /** What the message says of it above: the same is not told twice. */
  shown?: string;
  /** Epoch milliseconds. */
  now: number;
}

export const wholeItem = (item: DigestItem, { number, shown, now }: WholeItem): Line[] => {
  const name: Line = [{ text: nameOf(item), mark: 'code' }, ...lineOf(factsLine(item), now)];
  if (shown === undefined) return [[{ text: `${number}. ${item.title}` }], name, ...saidLines(item)];
  return [[{ text: `${number}. ` }, ...name], ...(isShown(item, shown) ? [] : saidLines(item))];
};
