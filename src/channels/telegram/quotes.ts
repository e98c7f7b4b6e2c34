/** What happened, in the words of the service: text from outside, so it stands in a quote. */
import { beginningOf, cleanLine, counted, shorten } from '../../text.ts';
import type { Format } from '../channel.ts';
import { type Content, type Detection, fairShares } from '../content/content.ts';
import { TEXT_LIMIT } from './limits.ts';
import { type Block, type Line, lengthOf } from './lines.ts';

/** What a reader sees before a tap: longer texts are folded. */
export const VISIBLE_LIMIT = 450;
/** Of each detector at least this much is shown, or nothing. */
const SHARE_MIN = 60;
const NAME_LIMIT = 240;

const PLAIN_QUOTE = '> ';

/** UTF-16 units that a quote adds to each line. */
export const quoteCost = (format: Format): number => (format === 'rich' ? 0 : PLAIN_QUOTE.length);

/** The lines as those of somebody else. */
export const quoted = (lines: readonly Line[], format: Format): Block => {
  if (format !== 'rich') return { lines: lines.map((line) => [{ text: PLAIN_QUOTE }, ...line]) };
  return { lines, as: lengthOf(lines) > VISIBLE_LIMIT ? 'folded' : 'quote' };
};

/** In one line, so that no line break in it can begin a line that passes for ours, and no more than a message holds. */
export const inOneLine = (detection: Detection): Detection => {
  const { message, leftOut = 0 } = detection;
  const missing = leftOut + Math.max(0, message.length - TEXT_LIMIT);
  const said = { ...detection, message: cleanLine(beginningOf(message, TEXT_LIMIT)) };
  return missing === 0 ? said : { ...said, leftOut: missing };
};

/** At most `limit` UTF-16 units. */
const detectionLine = ({ name, message }: Detection, limit: number): Line => {
  const label = shorten(name, Math.min(NAME_LIMIT, limit));
  const room = limit - label.length - 2;
  const said = room > 0 ? shorten(message, room) : '';
  return [{ text: label, mark: 'b' }, ...(said === '' ? [] : [{ text: `: ${said}` }])];
};

const whole = (detection: Detection): Line => detectionLine(detection, Number.POSITIVE_INFINITY);

/** What each detector said, in at most `room` UTF-16 units; `cost`: of a line beside its text. */
export const detectionLines = (detections: readonly Detection[], room: number, cost: number): Line[] => {
  const shown = detections.slice(0, Math.max(1, Math.floor(room / SHARE_MIN)));
  const shares = fairShares(
    shown.map((one) => lengthOf([whole(one)]) + cost),
    room,
  );
  return shown.map((one, index) => detectionLine(one, (shares[index] ?? 0) - 1 - cost));
};

export const wholeDetections = (detections: readonly Detection[]): Line[] => detections.map(whole);

/** Ours, below the quote. */
export const omissionLines = (
  detections: readonly Detection[],
  wholeLines: readonly Line[],
  shown: readonly Line[],
): Line[] => {
  const hidden = wholeLines.length - shown.length;
  if (hidden > 0) return [[{ text: `[cut; ${counted(hidden, 'more detector')} left out]` }]];
  const before = detections.reduce((sum, { leftOut = 0 }) => sum + leftOut, 0);
  const missing = before + lengthOf(wholeLines) - lengthOf(shown);
  return missing > 0 ? [[{ text: `[${missing.toLocaleString('en')} characters left out]` }]] : [];
};

/** A stored notification as it came. */
export const messageLines = ({ message = '' }: Pick<Content, 'message'>): Line[] =>
  message.split('\n').map((text) => [{ text }]);
