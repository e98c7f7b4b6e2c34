/** The report of a mute that has ended: which alerts it hid. Pure. */
import { scopeText } from '../../alert.ts';
import { inlineName, readableName } from '../../channels/content/foreign.ts';
import { rankOf, signOf, toneOf } from '../../channels/content/severity.ts';
import { cleanLine, counted, firstFew, listText, quotedName, shorten } from '../../text.ts';
import { clock, clockText, iso, spanText } from '../../time.ts';
import { type AnnouncementText, type Listed, TO_DO } from '../announcements/announce.ts';
import { type HiddenItem, MOST_LISTED, type StoredMute } from './store.ts';

/** What a report lists, in one message or several. */
export interface MuteReport {
  /** Alerts in all. */
  hid: number;
  /** Those that are known, in any order. */
  items: readonly HiddenItem[];
  /** Names of the destinations that were to get them, where the report goes to others. */
  insteadOf?: readonly string[];
}

/**
 * Of one message: it must fit into a Slack text, which holds 40,000 characters with what surrounds it. Names in the config
 * and a time zone may make lines longer than they are here.
 */
const PART = { items: 150, characters: 21_500 };
const LIMITS = {
  reason: 500,
  author: 100,
  scope: 1000,
  name: 500,
  protocol: 100,
  detector: 100,
  detectors: 5,
  insteadOf: 10,
};

const FOLLOW_UP = /^inspection\.(downgraded|upgraded|vanished)$/;

const whatOf = ({ type, detectors }: HiddenItem): Pick<Listed, 'detectors' | 'what'> => {
  const [, change] = FOLLOW_UP.exec(type) ?? [];
  if (change !== undefined) return { what: `follow-up, ${change}` };
  if (type.startsWith('notification.')) return { what: 'the service wrote' };
  if (detectors.length === 0) return { what: 'what was found is not said' };
  return { detectors: firstFew(detectors, LIMITS.detectors).map((name) => shorten(cleanLine(name), LIMITS.detector)) };
};

const listedOf = (item: HiddenItem): Listed => {
  const { at, protocol, txHash, itemId, chainId, said } = item;
  const name = shorten(cleanLine(txHash ?? itemId), LIMITS.name);
  const id = txHash === undefined ? { itemId: name } : { txHash: name };
  const where = { at, severity: inlineName(item.severity), protocol: inlineName(shorten(protocol, LIMITS.protocol)) };
  const facts = { ...(said === undefined ? {} : { said }), ...(chainId === undefined ? {} : { chainId }) };
  return { ...where, ...whatOf(item), ...id, ...facts };
};

/** `🔴 CRITICAL 02:40:47 Lending Pool: Flash loan “2 WETH borrowed” 0x...`; with the date where that is another day than the end's. */
const lineOf = (
  { at, severity, protocol, detectors = [], what, said, txHash, itemId }: Listed,
  endedAt: number,
): string => {
  const isToday = clock(at).slice(0, 10) === clock(endedAt).slice(0, 10);
  const when = isToday ? clock(at).slice(11) : clock(at);
  const happened = [what ?? detectors.map(readableName).join(', '), ...(said === undefined ? [] : [quotedName(said)])];
  return `${signOf(toneOf(severity))} ${severity} ${when} ${protocol}: ${happened.join(' ')} ${txHash ?? itemId ?? ''}`;
};

/** Its length as Slack counts it: `&`, `<` and `>` are written as several characters. */
const sizeOf = (line: string): number => line.replace(/[&<>]/g, '&amp;').length + 1;

interface Part {
  listed: Listed[];
  lines: string[];
  characters: number;
}

/** Splits the list, one line an item, into parts that fit into a message. */
const partsOf = (items: readonly Listed[], endedAt: number): Part[] => {
  const empty = (): Part => ({ listed: [], lines: [], characters: 0 });
  let part = empty();
  const parts = [part];
  for (const one of items) {
    const line = lineOf(one, endedAt);
    const size = sizeOf(line);
    if (part.lines.length === PART.items || part.characters + size > PART.characters) {
      part = empty();
      parts.push(part);
    }
    part.listed.push(one);
    part.lines.push(line);
    part.characters += size;
  }
  return parts;
};

/** The worst first, then as they came. */
const inOrder = (items: readonly HiddenItem[]): Listed[] =>
  items
    .toSorted((a, b) => a.at.localeCompare(b.at))
    .slice(0, MOST_LISTED)
    .map(listedOf)
    .toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity));

/** How many, and how bad: enough for a lock screen, and a title. */
const headOf = (hid: number, listed: readonly Listed[], part: string): string => {
  const critical = listed.filter(({ severity }) => severity === 'CRITICAL').length;
  const least = hid > listed.length ? 'at least ' : '';
  const bad = critical === 0 ? '' : `, ${least}${critical === hid ? 'all' : critical} of them critical`;
  const all = critical === 1 && hid === 1 ? ', a critical one' : bad;
  return `A mute ended${part}: ${counted(hid, 'alert was', 'alerts were')} not sent${all}.`;
};

const whyText = (mute: StoredMute, endedAt: number): string => {
  const { reason, author, from } = mute;
  const by = author === undefined ? '' : ` Added by ${quotedName(shorten(cleanLine(author), LIMITS.author))}.`;
  const how = mute.endedAt === undefined ? '' : ', ended by hand';
  return [
    `It muted ${shorten(scopeText(mute), LIMITS.scope)}, ${spanText(clockText(from), clockText(endedAt))}${how}.${by} Look through what it hid: nobody was told of it here.`,
    `Reason: ${shorten(cleanLine(reason), LIMITS.reason)}`,
  ].join('\n');
};

const insteadText = (names: readonly string[]): string => `Could not be sent to: ${listText(names, LIMITS.insteadOf)}.`;

/** The command lists everything that was found in that time, also what was sent. */
const moreText = (more: number, from: string, until: string): string =>
  `${TO_DO}${counted(more, 'more is', 'more are')} not listed. To see all that was found in that time, run: tocsin replay --since ${from} --until ${until} --dry-run`;

/** Messages, in most cases one; the first line of each stands alone. `endedAt` in epoch milliseconds. */
export const muteReportTexts = (
  mute: StoredMute,
  endedAt: number,
  { hid, items, insteadOf = [] }: MuteReport,
): AnnouncementText[] => {
  const all = inOrder(items);
  const more = hid - all.length;
  const parts = partsOf(all, endedAt);
  return parts.map(({ lines, listed }, index) => {
    const part = parts.length === 1 ? '' : ` (part ${index + 1} of ${parts.length})`;
    const lead = [
      headOf(hid, all, part),
      whyText(mute, endedAt),
      ...(insteadOf.length > 0 ? [insteadText(insteadOf)] : []),
      ...(more > 0 && index === parts.length - 1 ? [moreText(more, mute.from, iso(endedAt))] : []),
    ].join('\n');
    return { message: [lead, '', ...lines].join('\n'), lead, listed };
  });
};
