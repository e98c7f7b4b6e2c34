/**
 * The message of an announcement, as text and line by line: its commands as code, what it lists with times and links. The item is read
 * leniently: what is not as we write it is shown as the text that it is.
 */
import { type Alert, type JsonObject, type JsonValue, TOCSIN } from '../../alert.ts';
import { cleanLine, cleanText, quotedName, shorten } from '../../text.ts';
import { parseTime } from '../../time.ts';
import { transactionLink } from '../chains.ts';
import { ownTimesText, timeOfDay, withOwnTimes } from './clock.ts';
import type { Content, Line, Piece } from './content.ts';
import { chainOf } from './finding.ts';
import { inlineName, objectOf, shortenHex, shortHex } from './foreign.ts';
import type { Presentation } from './presentation.ts';
import { signOf, toneOf } from './severity.ts';

const textsIn = (value: JsonValue | undefined): string[] =>
  (Array.isArray(value) ? value : []).flatMap((one) => (typeof one === 'string' ? [cleanLine(one)] : []));

/** The parts of a line that are commands, with or without the backticks that a plain text needs. */
const withCommands = (line: string, commands: readonly string[]): Line => {
  const [command, ...others] = commands;
  if (command === undefined) return line === '' ? [] : [{ text: line }];
  const parts = line.split(`\`${command}\``).flatMap((part) => {
    const isLast = part.endsWith(` ${command}`);
    return isLast ? [part.slice(0, -command.length), ''] : [part];
  });
  return parts.flatMap((part, index): Piece[] => [
    ...(index === 0 ? [] : [{ text: command, code: true as const }]),
    ...withCommands(part, others),
  ]);
};

/** Linked, the short hash is enough; otherwise the whole one is what a reader copies. */
const referenceOf = (entry: JsonObject, { chains }: Presentation): Piece => {
  const hash = cleanLine(String(entry.txHash ?? entry.itemId ?? ''));
  const url = entry.txHash === undefined ? undefined : transactionLink(chainOf(entry, chains), hash);
  return url === undefined ? { text: hash, code: true } : { text: shortHex(hash), url, copy: hash };
};

/** `🔴 CRITICAL 02:40:47 UTC Lending Pool: Flash loan “2 WETH borrowed” 0x5033…5ccb`. */
const listedLine = (entry: JsonObject, presentation: Presentation, now: number): Line => {
  const { what } = entry;
  const severity = typeof entry.severity === 'string' ? inlineName(entry.severity) : '';
  const protocol = cleanLine(String(entry.protocol ?? ''));
  const at = parseTime(entry.at);
  const time = Number.isNaN(at) ? [] : [{ text: timeOfDay(at, now, presentation.timeZoneOf(protocol)), at }];
  const names = textsIn(entry.detectors).map(presentation.detectorName);
  const happened = typeof what === 'string' ? cleanLine(what) : names.join(', ');
  const said = typeof entry.said === 'string' ? `${quotedName(shortenHex(cleanLine(entry.said)))} ` : '';
  return [
    { text: `${signOf(toneOf(severity))} ${severity === '' ? '' : `${severity} `}` },
    ...time,
    { text: ` ${inlineName(protocol)}: ${happened} ${said}` },
    referenceOf(entry, presentation),
  ];
};

/** What a reader copies, where that is more than what is shown. */
const wholeText = (line: Line): string => line.map(({ text, copy = text }) => copy).join('');

/**
 * The text of an announcement, its times by the reader's clock: plain, with whole hashes and commands in backticks; and line
 * by line. `now`: the time of sending, in epoch milliseconds.
 */
export const announcedText = (
  item: JsonObject,
  presentation: Presentation,
  now: number,
): { message: string; messageLines: Line[] } => {
  const { message, lead, listed, createdAt } = item;
  const steps = textsIn(item.steps).toSorted((a, b) => b.length - a.length);
  const isList = typeof lead === 'string' && Array.isArray(listed) && listed.length > 0;
  const text = cleanText(isList ? lead : typeof message === 'string' ? message : '');
  const saidAt = parseTime(createdAt);
  const clock = { timeZone: presentation.timeZoneOf(TOCSIN), today: Number.isNaN(saidAt) ? now : saidAt };
  const lines = text
    .split('\n')
    .map((line) =>
      withCommands(line, steps).flatMap((piece) => (piece.code ? [piece] : withOwnTimes(piece.text, clock))),
    );
  const list = isList ? listed.map((one) => listedLine(objectOf(one), presentation, now)) : [];
  return {
    message: [ownTimesText(text, clock), ...(isList ? ['', ...list.map(wholeText)] : [])].join('\n'),
    messageLines: isList ? [...lines, [], ...list] : lines,
  };
};

/** Up to this many are whole; of more, only their first lines, which stand alone. */
const WHOLE_MAX = 5;
const LINE_LIMIT = 300;

/** A mute report lists what the mute hid: no line of it is left out. */
export const isMuteReport = ({ type }: Pick<Alert, 'type'>): boolean => type === 'tocsin.mute.ended';

const firstLineOf = (message: string): string => shorten(cleanLine(message.split('\n', 1)[0] ?? ''), LINE_LIMIT);

/** The contents of several announcements of one kind that waited for their destination, as one. Never empty. */
export const uniteAnnouncements = (alerts: readonly Alert[], contents: readonly Content[]): Content => {
  const [first] = contents;
  if (first === undefined) throw new Error('a message has at least one alert');
  if (contents.length === 1) return first;
  const messages = contents.map(({ message = '' }) => message);
  const isShort = messages.length > WHOLE_MAX && !alerts.every(isMuteReport);
  const texts = isShort
    ? [messages.map((message) => `- ${firstLineOf(message)}`).join('\n'), 'Now: tocsin status']
    : messages;
  const lines = contents.map(({ messageLines = [] }, index) => (index === 0 ? messageLines : [[], ...messageLines]));
  const title = `${first.title}: ${contents.length} messages`;
  const happened = `the first: ${firstLineOf(messages[0] ?? '')}`;
  const { messageLines: _messageLines, ...rest } = first;
  const whole = {
    ...rest,
    title,
    happened,
    said: happened,
    headline: `${title}, ${happened}`,
    message: texts.join('\n\n'),
  };
  return isShort ? whole : { ...whole, messageLines: lines.flat() };
};
