/** The report of a mute that has ended: which alerts it hid. Pure. */
import { scopeText } from '../../mute-text.ts';
import { cleanLine, countedInWords, listText, shorten } from '../../text.ts';
import { clockText, iso } from '../../time.ts';
import { type HiddenItem, MOST_LISTED, type StoredMute } from './store.ts';

/** What one message, or several, shall list. */
export interface MuteReport {
  /** Alerts in all. */
  hid: number;
  /** Those that are known, in any order. */
  items: readonly HiddenItem[];
  /** Names of the destinations that were to get them, where the report goes to others. */
  insteadOf?: readonly string[];
}

/** Of one message: it must fit into a Slack text, which holds 40,000 characters with what surrounds it. */
const PART = { items: 200, characters: 20_000 };
const LIMITS = { reason: 500, author: 100, scope: 1000, head: 1000, name: 500, insteadOf: 10 };

const FOLLOW_UP = /^inspection\.(downgraded|upgraded|vanished)$/;

const kindOf = ({ type, detectors }: HiddenItem): string => {
  const [, change] = FOLLOW_UP.exec(type) ?? [];
  if (change !== undefined) return `follow-up, ${change}`;
  if (type.startsWith('notification.')) return 'stored notification';
  return detectors.map(cleanLine).join(', ') || 'no detector named';
};

const headOf = (item: HiddenItem): string => shorten(`${cleanLine(item.protocol)}: ${kindOf(item)}`, LIMITS.head);

interface Part {
  lines: string[];
  items: number;
  characters: number;
  head?: string;
}

/** Alerts under their protocol and detectors, each by its transaction, or by its own id where it names none. */
const partsOf = (items: readonly HiddenItem[]): Part[] => {
  let part: Part = { lines: [], items: 0, characters: 0 };
  const parts = [part];
  for (const [head, together] of Map.groupBy(items, headOf)) {
    for (const { txHash, itemId } of together) {
      const line = shorten(cleanLine(txHash ?? itemId), LIMITS.name);
      const room = head.length + line.length + 2;
      if (part.items === PART.items || part.characters + room > PART.characters) {
        part = { lines: [], items: 0, characters: 0 };
        parts.push(part);
      }
      part.lines.push(...(part.head === head ? [line] : [head, line]));
      part.characters += part.head === head ? line.length + 1 : room;
      part.items += 1;
      part.head = head;
    }
  }
  return parts;
};

const insteadText = (names: readonly string[]): string => `Could not be sent to: ${listText(names, LIMITS.insteadOf)}`;

/** The command lists everything that was found in that time, also what was sent. */
const moreText = (more: number, from: string, until: string): string =>
  `and ${more} more that are not listed; \`tocsin replay --since ${from} --until ${until} --dry-run\` shows what was found`;

/** Messages, in most cases one; the first line of each stands alone. `endedAt` in epoch milliseconds. */
export const muteReportTexts = (
  mute: StoredMute,
  endedAt: number,
  { hid, items, insteadOf = [] }: MuteReport,
): string[] => {
  const listed = items.toSorted((a, b) => a.at.localeCompare(b.at)).slice(0, MOST_LISTED);
  const until = iso(endedAt);
  const times = `${clockText(mute.from)} to ${clockText(until)}`;
  const scope = shorten(scopeText(mute), LIMITS.scope);
  const more = hid - listed.length;
  const parts = partsOf(listed);
  return parts.map(({ lines }, index) => {
    const part = parts.length === 1 ? '' : `, part ${index + 1} of ${parts.length}`;
    return [
      `A mute has ended that hid ${countedInWords(hid, 'alert')}${part}: ${shorten(cleanLine(mute.reason), LIMITS.reason)}`,
      `${mute.id}: ${scope}; ${times}${mute.endedAt === undefined ? '' : ', ended by hand'}${mute.author === undefined ? '' : `; added by ${shorten(cleanLine(mute.author), LIMITS.author)}`}`,
      ...(insteadOf.length > 0 ? [insteadText(insteadOf)] : []),
      '',
      ...lines,
      ...(more > 0 && index === parts.length - 1 ? [moreText(more, mute.from, until)] : []),
    ].join('\n');
  });
};
