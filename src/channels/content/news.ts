/** The reply below a message that has grown: what is new in it, in a title, and the worst of that in one line. Pure. */
import type { Alert } from '../../alert.ts';
import type { Sliced } from '../../chunks.ts';
import { counted, listText, shorten } from '../../text.ts';
import type { Content, Detection, Line } from './content.ts';
import { uniteReadings } from './describe.ts';
import { inlineName, withoutDots } from './foreign.ts';
import { headingOf } from './heading.ts';
import { transactionLine } from './lines.ts';
import { linksOf } from './presentation.ts';
import { type Reading, readInspection, type Wording, withRooms } from './reading.ts';
import { rankOf } from './severity.ts';
import { mostTelling } from './telling.ts';

/** What a group of readings is known by. */
interface Known {
  /** The worst rank of each protocol, by its key. */
  ranks: Map<string, number>;
  /** Of its protocols, each once. */
  names: readonly string[];
  detectors: Set<string>;
  /** What they say, by `textOf`. */
  texts: Set<string>;
}

const textOf = ({ id, message }: Detection): string => `${id} ${message}`;

const knownOf = (readings: readonly Reading[]): Known => {
  const ranks = new Map<string, number>();
  for (const { key, severity } of readings) {
    ranks.set(key, Math.min(ranks.get(key) ?? Number.POSITIVE_INFINITY, rankOf(severity)));
  }
  const detections = readings.flatMap((one) => one.detections);
  return {
    ranks,
    names: [...new Set(readings.flatMap(({ protocols }) => protocols))],
    detectors: new Set(detections.map(({ id }) => id)),
    texts: new Set(detections.map(textOf)),
  };
};

const BRACKETS = /[\p{Ps}\p{Pe}]/gu;

/** So many names stand in a title, in so many characters: those of decoys, however long, push out no other. */
const MOST_NAMED = 8;
const NAMES_LIMIT = 120;

/** `(+ Copper Perps, Juno Margin)`: names from outside, which cannot close the bracket. */
const added = (names: readonly string[]): string => {
  const all = [...new Set(names)];
  const limit = Math.floor(NAMES_LIMIT / Math.min(all.length, MOST_NAMED));
  const shown = all.map((name) => shorten(inlineName(name.replace(BRACKETS, ' ')), limit));
  return `(+ ${listText(shown, MOST_NAMED)})`;
};

const newDetectors = ({ detections }: Reading, { detectors }: Known): Detection[] =>
  detections.filter(({ id }) => !detectors.has(id));

/** The same, then detectors that say something else: the first text may have been a decoy's. */
const newDetections = (one: Reading, known: Known): Detection[] => [
  ...newDetectors(one, known),
  ...one.detections.filter((each) => known.detectors.has(each.id) && !known.texts.has(textOf(each))),
];

/** A name that people have heard of is that of another protocol here: of another service, or one that looks alike. */
const nameIn = ({ protocols: [name = ''] }: Reading, { names }: Known): string =>
  names.includes(name) ? `another ${name}` : name;

/** What is said of the news, whether it says how bad it is, and the readings that it is about. */
interface News {
  text: string;
  saysWord: boolean;
  about: readonly Reading[];
}

/** The worst news come first. */
const saidOf = (all: Known, known: Known, news: readonly Reading[]): News => {
  const rankBefore = (one: Reading): number | undefined => known.ranks.get(one.key);
  const isWorse = Math.min(...all.ranks.values()) < Math.min(...known.ranks.values());
  const others = news.filter((one) => rankBefore(one) === undefined);
  if (others.length > 0) {
    const names = others.map((one) => nameIn(one, known));
    const saysWord = isWorse && known.ranks.size > 0;
    const word = saysWord ? `${news[0]?.severity}, ` : '';
    return { text: `Now ${word}${counted(all.ranks.size, 'protocol')} ${added(names)}`, saysWord, about: others };
  }
  const where = (about: readonly Reading[], of: string) => ({
    text: `${of} · ${listText([...new Set(about.flatMap(({ protocols }) => protocols))].map(inlineName))}`,
    saysWord: true,
    about,
  });
  const worse = news.filter((one) => rankOf(one.severity) < (rankBefore(one) ?? 0));
  if (worse.length > 0) return where(worse, `Now ${worse[0]?.severity}`);
  const further = news.filter((one) => newDetections(one, known).length > 0);
  const detectors = further.flatMap((one) => newDetectors(one, known));
  const ids = new Set(detectors.map(({ id }) => id));
  if (ids.size > 0) {
    return where(
      further,
      `${further[0]?.severity} · ${counted(ids.size, 'more detector')} ${added(detectors.map(({ name }) => name))}`,
    );
  }
  if (further.length > 0) return where(further, `${further[0]?.severity} · ${counted(further.length, 'more finding')}`);
  return where(news, `${news[0]?.severity} · ${counted(news.length, 'more finding')} since the acknowledgement`);
};

/** One line: the worst, what it says that nobody has said before, and where there are several protocols which it is. */
const lineOf = (worst: Reading, happened: string, known: Known, lead: string | undefined): Detection[] => {
  const [first] = newDetections(worst, known).concat(worst.detections);
  if (first === undefined) return [];
  if (lead === undefined) return [{ ...first, message: happened }];
  // As the message above has its lines; the title does not say how bad this one is.
  return [{ id: '', name: lead, message: withoutDots(happened), between: ' · ' }];
};

/** The protocols that people have heard of; none where all of it is of one. */
const beforeLine = ({ names }: Known, all: Known): Line[] =>
  all.ranks.size < 2 ? [] : [[{ text: `Already alerted: ${listText(names.map(inlineName))}` }]];

/** People have heard of the first `heard` of these alerts, all of one transaction. */
export function* describeNews(alerts: readonly Alert[], heard: number, wording: Wording): Sliced<Content> {
  const readings: Reading[] = [];
  for (const [alert, room] of withRooms(alerts)) {
    yield;
    readings.push(readInspection(alert, wording, room));
  }
  const known = knownOf(readings.slice(0, heard));
  const all = knownOf(readings);
  const newIn = (one: Reading): number => newDetectors(one, known).length;
  const sorted = readings
    .slice(heard)
    .toSorted((a, b) => rankOf(a.severity) - rankOf(b.severity) || newIn(b) - newIn(a));
  const news = mostTelling(sorted, MOST_NAMED);
  const { text, about, saysWord } = saidOf(all, known, news);
  const whole = uniteReadings(readings);
  const [worst = whole] = about;
  // A protocol that is new says what its line in the message above says.
  const fresh = known.ranks.has(worst.key) ? newDetections(worst, known) : [];
  const { presentation } = wording;
  const { happened, said, word, where, sign } = headingOf(
    { ...worst, detections: fresh.length > 0 ? fresh : worst.detections },
    presentation,
  );
  const lead = all.ranks.size < 2 ? undefined : `${word} · ${where}`;
  const heading = headingOf(whole, presentation);
  const begin = heading.prefix === undefined ? '' : `${heading.prefix} `;
  const title = `${begin}${heading.sign} ${saysWord ? '' : `${heading.word} · `}${text}`;
  const shown = lineOf(worst, happened, known, lead);
  return {
    ...heading,
    ...{ title, where: text, happened, said, isOurs: false },
    // A locked phone shows little: first what was found, and where.
    headline: lead === undefined ? `${title}: ${said}` : `${begin}${sign} ${lead}: ${said} · ${text}`,
    ...(lead === undefined ? {} : { subject: `Now ${counted(all.ranks.size, 'protocol')} · ${where}` }),
    ...{ gist: shown, detections: shown, protocols: undefined },
    lines: [...transactionLine(whole.finding), ...beforeLine(known, all)],
    links: linksOf(whole.finding, { protocols: whole.protocols, detectors: [] }, presentation).slice(0, 1),
    ...{ times: [], details: [] },
  };
}
