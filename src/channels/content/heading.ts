/** The first lines of a message: severity, protocol and contract in its title, and what the detectors say. Pure. */
import { cleanLine, counted, quotedName, shorten } from '../../text.ts';
import { type Content, type Detection, fairShares, type Line, lineText } from './content.ts';
import type { Contract } from './finding.ts';
import { inlineName, shortenHex, shortHex, UNKNOWN } from './foreign.ts';
import { CLEANED, gistOf, saidLine, sentenceless } from './gist.ts';
import type { Presentation } from './presentation.ts';
import type { Reading } from './reading.ts';
import { followUpNews, signOf } from './severity.ts';

const NAME_LIMIT = 300;
/** Characters of all lines together that are shown first, and how many lines are. */
const FIRST = { characters: 500, lines: 8 };

export interface Said {
  /** In one line each. */
  first: Detection[];
  /** Ours, below the first: how many more there are. Empty for none. */
  more: string;
  /** What is not, or not in full, among the first. */
  whole: Detection[];
}

type Found = Pick<Content, 'gist' | 'detections' | 'protocols'>;

/** What is not said in full by these lines. A line of a protocol never says it: it is about more than one detector. */
export const unsaid = ({ detections, protocols }: Found, first: readonly Detection[]): Detection[] =>
  detections.filter(
    ({ name, message, leftOut }, index) =>
      protocols !== undefined ||
      leftOut !== undefined ||
      message.length > CLEANED ||
      first[index]?.message !== cleanLine(message) ||
      first[index]?.name !== name,
  );

const moreOf = (more: number, one: string): string => (more <= 0 ? '' : `And ${counted(more, one)}, see below.`);

/** Of several protocols, how many have no line; empty for none. */
export const moreProtocols = ({ gist, protocols = 0 }: Found): string =>
  moreOf(protocols - gist.length, 'more protocol');

/** What a message shows first: each has a share of the room, so that one that says much pushes out no other. */
export const saidFirst = (found: Found): Said => {
  const { gist, protocols } = found;
  if (protocols !== undefined) return { first: gist, more: moreProtocols(found), whole: unsaid(found, gist) };
  const lines = gist.slice(0, FIRST.lines).map((one) => ({ ...one, name: shorten(one.name, NAME_LIMIT) }));
  const first = fairShares(lines, ({ message }) => message.length, FIRST.characters).map(([line, share]) => ({
    ...line,
    message: shorten(line.message, share),
  }));
  return { first, more: moreOf(gist.length - first.length, 'more detector'), whole: unsaid(found, first) };
};

const HAPPENED_LIMIT = 240;
/** More have no room in one line. */
const PHRASES_MAX = 20;
/** Of the worst so much that their numbers are seen. */
const WORST_MAX = 3;

/** What was found, in one line; a long text does not push out the others. Empty where no detector is named. */
const happenedOf = (gist: readonly Detection[], isOfSeveral: boolean): string => {
  const phrases = isOfSeveral
    ? gist.slice(0, WORST_MAX).map(({ name, message }) => `${name}: ${message}`)
    : gist.slice(0, PHRASES_MAX).map(({ name, message }) => sentenceless(message) || name);
  const shown = fairShares(phrases, ({ length }) => length, HAPPENED_LIMIT - 2 * phrases.length)
    .map(([phrase, share]) => shorten(phrase, share))
    .filter((phrase) => phrase !== '');
  return shorten(shown.join('; '), HAPPENED_LIMIT);
};

/** `Pool A`, `0x1807…cc1B`, `Pool A + 2 more`. */
const contractTitle = ([first, ...others]: readonly Contract[]): string | undefined => {
  if (first === undefined) return undefined;
  const name = inlineName(first.name ?? shortHex(first.at?.whole ?? ''));
  return others.length === 0 ? name : `${name} + ${others.length} more`;
};

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
  const [first = UNKNOWN] = protocols;
  const prefix = prefixOf(first);
  const sign = signOf(tone);
  const remarks = [...(isReplay ? ['old alert'] : []), ...(was === undefined ? [] : [`was ${was}`])];
  const word = remarks.length === 0 ? severity : `${severity} (${remarks.join(', ')})`;
  const isOfSeveral = protocols.length > 1;
  const protocol = isOfSeveral ? `${protocols.length} protocols` : inlineName(first);
  const beside = isOfSeveral ? 'one transaction' : contract;
  const where = beside === undefined ? protocol : `${protocol} · ${beside}`;
  const title = `${prefix === undefined ? '' : `${prefix} `}${sign} ${word} · ${where}`;
  return {
    ...{ severity, tone, sign, word, was, prefix, protocol, where, title, happened, said },
    contract: isOfSeveral ? undefined : contract,
    headline: `${title}: ${said}`,
  };
};

/** The title of what was read, and what was found. */
export const headingOf = (reading: Reading, presentation: Presentation) => {
  const { protocols, finding, followUp } = reading;
  const gist = gistOf(reading);
  const said = happenedOf(gist, protocols.length > 1);
  const happened = said === '' ? ours('the service does not say what was found') : foreign(said);
  const news = followUp ? ours(followUpNews(followUp, said)) : happened;
  return {
    ...titled(reading, contractTitle(finding.contracts), news, presentation),
    gist,
    ...(protocols.length > 1 ? { protocols: protocols.length } : {}),
  };
};

/** The same of a text, by its first line. */
export const textHappened = (message: string, isOurs: boolean): Pick<Content, 'happened' | 'said'> => {
  const line = firstLine(message);
  if (line === '') return ours(UNKNOWN);
  return isOurs ? ours(line) : foreign(line);
};

/** The first line of a text, which stands alone. */
export const firstLine = (message: string): string =>
  shorten(sentenceless(shortenHex(saidLine(message.split('\n', 1)[0] ?? ''))), HAPPENED_LIMIT);

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
