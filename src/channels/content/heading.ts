/** The first lines of a message: severity, protocol and contract in its title, and what the detectors say. Pure. */
import { beginningOf, cleanLine, counted, quotedName, shorten } from '../../text.ts';
import { type Content, type Detection, fairShares, type Line, lineText } from './content.ts';
import type { Contract } from './finding.ts';
import { inlineName, shortenHex, shortHex, UNKNOWN } from './foreign.ts';
import type { Presentation } from './presentation.ts';
import type { Reading } from './reading.ts';
import { followUpWords, signOf } from './severity.ts';

const NAME_LIMIT = 300;
/** Characters of all detectors together that are shown first, and how many detectors are. */
const FIRST = { characters: 500, detections: 8 };
/** Characters that are cleaned to show some of them: more than enough, unless a text is nothing but spaces. */
const CLEANED = 4 * FIRST.characters;

/** The beginning of a text in one line; `most`: how much of it is looked at. An ellipsis shows that there is more. */
const saidLine = (message: string, most = CLEANED): string =>
  message.length <= most ? cleanLine(message) : `${cleanLine(beginningOf(message, most))}…`;

export interface Said {
  /** In one line each. */
  first: Detection[];
  /** Detectors that are not among them. */
  more: number;
  /** What is not, or not in full, among the first. */
  whole: Detection[];
}

/** Says how many detectors are not among the first; empty for none. */
export const moreText = ({ more }: Pick<Said, 'more'>): string =>
  more === 0 ? '' : `And ${counted(more, 'more detector')}, see below.`;

/** What a message shows first of its detectors: each has a share of the room, so that one that says much pushes out no other. */
export const saidFirst = (detections: readonly Detection[]): Said => {
  const lines = detections
    .slice(0, FIRST.detections)
    .map(({ id, name, message }) => ({ id, name: shorten(name, NAME_LIMIT), message: saidLine(message) }));
  const first = fairShares(lines, ({ message }) => message.length, FIRST.characters).map(([line, share]) => ({
    ...line,
    message: shorten(line.message, share),
  }));
  const isWhole = ({ name, message, leftOut }: Detection, index: number): boolean =>
    message.length <= CLEANED &&
    leftOut === undefined &&
    first[index]?.message === lines[index]?.message &&
    first[index]?.name === name;
  return {
    first,
    more: detections.length - first.length,
    whole: detections.filter((detection, index) => !isWhole(detection, index)),
  };
};

const HAPPENED_LIMIT = 240;
/** More have no room in one line. */
const PHRASES_MAX = 20;

const sentenceless = (said: string): string => shortenHex(saidLine(said)).replace(/[.;\s]+$/, '');

/** What each detector said, in one line; a long text does not push out the others. Empty where none says anything. */
const happenedOf = (detections: readonly Detection[]): string => {
  const phrases = detections.slice(0, PHRASES_MAX).map(({ name, message }) => sentenceless(message) || name);
  const shown = fairShares(phrases, ({ length }) => length, HAPPENED_LIMIT - 2 * phrases.length)
    .map(([phrase, share]) => shorten(phrase, share))
    .filter((phrase) => phrase !== '');
  return shorten(shown.join('; '), HAPPENED_LIMIT);
};

/** `Pool A`, `0x1807…cc1B`, `Pool A + 2 more`; nothing where several protocols have nothing in common. */
const contractTitle = (contracts: readonly Contract[], protocols: number): string | undefined => {
  const [first, ...others] = contracts;
  if (first === undefined || (protocols > 1 && others.length > 0)) return undefined;
  const name = inlineName(first.name ?? shortHex(first.at?.whole ?? ''));
  return others.length === 0 ? name : `${name} + ${others.length} more`;
};

const protocolTitle = ([first = UNKNOWN, ...others]: readonly string[]): string =>
  others.length === 0 ? inlineName(first) : `${inlineName(first)} + ${others.length} more`;

/** A locked phone shows it below Tocsin's name: from outside it stands in quotes, so that it cannot pass for our words. */
const foreign = (happened: string) => ({ happened, said: quotedName(happened) });

const ours = (happened: string) => ({ happened, said: happened });

/** Severity, protocol and contract in one line, and with what happened. */
export const titled = (
  { severity, tone, isReplay, was, protocols }: Pick<Reading, 'severity' | 'tone' | 'isReplay' | 'was' | 'protocols'>,
  contract: string | undefined,
  { happened, said }: Pick<Content, 'happened' | 'said'>,
  { prefixOf }: Presentation,
) => {
  const prefix = prefixOf(protocols[0] ?? '');
  const sign = signOf(tone);
  const remarks = [...(isReplay ? ['replay'] : []), ...(was === undefined ? [] : [`was ${was}`])];
  const word = remarks.length === 0 ? severity : `${severity} (${remarks.join(', ')})`;
  const protocol = protocolTitle(protocols);
  const where = contract === undefined ? protocol : `${protocol} · ${contract}`;
  const title = `${prefix === undefined ? '' : `${prefix} `}${sign} ${word} · ${where}`;
  return {
    ...{ severity, tone, sign, word, was, prefix, protocol, contract, where, title, happened, said },
    headline: `${title}: ${said}`,
  };
};

/** The title of what was read, and what happened. */
export const headingOf = (reading: Reading, presentation: Presentation) => {
  const { protocols, finding, detections, followUp } = reading;
  const said = happenedOf(detections);
  const happened = said === '' ? ours('no detector named') : foreign(said);
  const news = followUp ? ours(followUpWords(followUp).news) : happened;
  return titled(reading, contractTitle(finding.contracts, protocols.length), news, presentation);
};

/** The same of a text, by its first line. */
export const textHappened = (message: string, isOurs: boolean): Pick<Content, 'happened' | 'said'> => {
  const line = firstLine(message);
  if (line === '') return ours(UNKNOWN);
  return isOurs ? ours(line) : foreign(line);
};

/** The first line of a text, which stands alone. */
export const firstLine = (message: string): string =>
  shorten(sentenceless(message.split('\n', 1)[0] ?? ''), HAPPENED_LIMIT);

/** What every kind shows as a title, Slack's header the least. */
const TITLE_LIMIT = 140;

/** A title is text: no clock of the reader's, no link, no command to copy. */
const isPlain = (line: Line): boolean =>
  line.every(({ at, url, code }) => at === undefined && url === undefined && code === undefined);

/**
 * With the first line of one announcement of ours in its title, `❗ Tocsin: Slack #ops is archived`, and not again below. As it
 * is where that line is no title or all of it, or where several announcements are one message.
 */
export const ownTitled = (content: Content): Content => {
  const { isOurs, isTitled, messageLines = [], message = '', happened } = content;
  const [first, ...lines] = messageLines;
  if (!isOurs || isTitled || first === undefined || !isPlain(first)) return content;
  const title = `${content.title}: ${lineText(first).replace(/\.$/, '')}`;
  if (title.length > TITLE_LIMIT || firstLine(lineText(first)) !== happened) return content;
  const begin = lines.findIndex((line) => lineText(line) !== '');
  if (begin < 0) return content;
  const rest = message.split('\n').slice(1 + begin);
  return { ...content, title, message: rest.join('\n'), messageLines: lines.slice(begin) };
};
