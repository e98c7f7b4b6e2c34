/** What is told when a mute ends. Pure. */
import { cleanLine } from '../channels/text.ts';
import type { Hidden, HiddenItem, StoredMute } from '../deliver/mutes.ts';
import { clockText, scopeText } from '../ops/wording.ts';

const FOLLOW_UP = /^inspection\.(downgraded|upgraded|vanished)$/;

const kindOf = ({ type, detectors }: HiddenItem): string => {
  const [, change] = FOLLOW_UP.exec(type) ?? [];
  if (change !== undefined) return `follow-up, ${change}`;
  if (type.startsWith('notification.')) return 'stored notification';
  return detectors.map(cleanLine).join(', ') || 'no detector named';
};

const countText = (count: number): string => (count === 1 ? 'one alert' : `${count} alerts`);

/** Alerts under their protocol and detectors, each by its transaction, or by its own id where it names none. */
const listLines = (items: readonly HiddenItem[]): string[] =>
  [...Map.groupBy(items, (item) => `${cleanLine(item.protocol)}: ${kindOf(item)}`)].flatMap(([head, together]) => [
    head,
    ...together.map(({ txHash, itemId }) => cleanLine(txHash ?? itemId)),
  ]);

/** The first line stands alone. `endedAt` in epoch milliseconds. */
export const muteEndText = (mute: StoredMute, endedAt: number, { hid, items }: Hidden): string => {
  const more = hid - items.length;
  const times = `${clockText(mute.from)} to ${clockText(new Date(endedAt).toISOString())}`;
  return [
    `A mute has ended that hid ${countText(hid)}: ${cleanLine(mute.reason)}`,
    `${mute.id}: ${scopeText(mute)}; ${times}${mute.endedAt === undefined ? '' : ', ended by hand'}`,
    '',
    ...listLines(items),
    ...(more > 0 ? [`and ${more} more that are not listed`] : []),
  ].join('\n');
};
