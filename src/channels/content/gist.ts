/**
 * What was found, as people read it first: in one line for each detector, and of several protocols in one line for each, so
 * that six are read as one. Addresses and hashes are short there; the details have them whole. Pure.
 */
import { beginningOf, cleanLine, listText, shorten } from '../../text.ts';
import { isAddress } from '../chains.ts';
import { type Detection, fairShares } from './content.ts';
import { type Contract, checksumAddress } from './finding.ts';
import { inlineName, shortenHex, shortHex, withoutDots } from './foreign.ts';
import type { Reading } from './reading.ts';

/** Characters that are cleaned to show some of them: more than enough, unless a text is nothing but spaces. */
export const CLEANED = 2000;

/** The beginning of a text in one line. An ellipsis shows that there is more. */
export const saidLine = (message: string): string =>
  message.length <= CLEANED ? cleanLine(message) : `${cleanLine(beginningOf(message, CLEANED))}…`;

type NameOf = (address: string) => string | undefined;

/**
 * What the contracts that were touched are called: those whose name says which one it is. One that several have does not, nor
 * one that poses as an address. Other addresses are short, with their checksum as everywhere.
 */
const namesOf = (contracts: readonly Contract[]): NameOf => {
  const named = contracts.flatMap(({ name, at }) =>
    name !== undefined && at !== undefined && isAddress(at.whole) ? [[at.whole.toLowerCase(), inlineName(name)]] : [],
  );
  const names = new Map(named.map(([address = '', name = '']) => [address, name]));
  const all = [...names.values()];
  return (address) => {
    const name = names.get(address.toLowerCase());
    const isClear = name !== undefined && !/0x/i.test(name) && all.indexOf(name) === all.lastIndexOf(name);
    if (isClear) return name;
    return isAddress(address) ? shortHex(checksumAddress(address)) : undefined;
  };
};

const detectorLines = ({ detections, finding }: Reading): Detection[] => {
  const nameOf = namesOf(finding.contracts);
  return detections.map(({ id, name, message }) => ({ id, name, message: shortenHex(saidLine(message), nameOf) }));
};

/** Without what ends a sentence: more follows. */
export const sentenceless = (line: string): string => line.replace(/[.;\s]+$/, '');

/** Words of all lines: with title, transaction and times about seventy, which is what somebody takes in at once. */
const WORDS = 46;
/** Of what one protocol found. */
const WORDS_MIN = 4;
const LINE_LIMIT = 160;
/** With a line each; all are in the details. */
export const PROTOCOLS_MAX = 10;

/** `90 %` is one. */
const wordsIn = (text: string): string[] => text.split(/ (?!%)/).filter((word) => word !== '');

const PERCENT = /\d\s?%/;
/** Not of an address. */
const NUMBER = /^(?!\W*0x)\W*\d/i;

/** How much: what is looked for in a finding. From and to which word; empty where it has no number. */
const numberIn = (words: readonly string[]): [from: number, to: number] => {
  const percent = words.findIndex((word) => PERCENT.test(word));
  if (percent >= 0) return [percent, percent + 1];
  const number = words.findIndex((word) => NUMBER.test(word));
  return number < 0 ? [0, 0] : [number, number + 2];
};

/** So many of its words stand before a number further on. */
const BEFORE_MIN = 2;

/** The first words of a text, `most` or hardly more, and its number, wherever that stands. */
const cutAtWords = (text: string, most: number): string => {
  const words = wordsIn(text);
  const [from, to] = numberIn(words);
  const isNear = to <= most + 1;
  const isLast = isNear && to >= most - 1;
  const end = isNear ? (isLast ? to : most) : Math.max(BEFORE_MIN, most - to + from);
  if (words.length <= Math.max(end, most + 1)) return text;
  const begin = sentenceless(words.slice(0, end).join(' ')).replace(/,$/, '');
  return `${begin}…${isNear ? '' : ` ${words.slice(from, to).join(' ')}`}`;
};

/** As many phrases as have room; of the first at least its beginning. */
const phrasesWithin = (phrases: readonly string[], room: number): string => {
  const [first = '', ...others] = phrases;
  const shown = [cutAtWords(first, room)];
  let left = room - wordsIn(first).length;
  for (const phrase of others) {
    if (left < WORDS_MIN) break;
    shown.push(cutAtWords(phrase, left));
    left -= wordsIn(phrase).length;
  }
  return shown.join('; ');
};

/** First what few of the others found: six flash loans in one transaction say less than what was done with one of them. */
const phrasesOf = (reading: Reading, foundBy: ReadonlyMap<string, number>): string[] =>
  detectorLines(reading)
    .toSorted((a, b) => (foundBy.get(a.id) ?? 0) - (foundBy.get(b.id) ?? 0))
    .map(({ name, message }) => withoutDots(sentenceless(message) || name));

interface ProtocolFinding {
  name: string;
  phrases: string[];
  /** Ours. */
  privileged: string;
}

const privilegedIn = ({ finding }: Reading): string => {
  const names = finding.methods.filter(({ isPrivileged }) => isPrivileged).map(({ name }) => inlineName(name));
  return names.length === 0 ? '' : `privileged ${listText(names, 2)}`;
};

const protocolLines = (each: readonly Reading[]): Detection[] => {
  const fired = each.flatMap(({ detections }) => [...new Set(detections.map(({ id }) => id))]);
  const foundBy = new Map([...Map.groupBy(fired, (id) => id)].map(([id, same]) => [id, same.length]));
  const findings = each.slice(0, PROTOCOLS_MAX).map((reading): ProtocolFinding => {
    const name = inlineName(reading.protocols[0] ?? '');
    const isAsBad = reading.severity === each[0]?.severity;
    return {
      name: isAsBad ? name : `${name} (${reading.severity.toLowerCase()})`,
      phrases: phrasesOf(reading, foundBy),
      privileged: privilegedIn(reading),
    };
  });
  const beside = findings.reduce(
    (sum, { name, privileged }) => sum + wordsIn(name).length + wordsIn(privileged).length,
    0,
  );
  const room = Math.max(findings.length * WORDS_MIN, WORDS - beside);
  const lengthOf = ({ phrases }: ProtocolFinding): number => wordsIn(phrases.join(' ')).length;
  return fairShares(findings, lengthOf, room).map(([{ name, phrases, privileged }, share]): Detection => {
    const said = shorten(phrasesWithin(phrases, share), LINE_LIMIT);
    return { id: '', name, message: [said, privileged].filter((part) => part !== '').join(' · '), between: ' · ' };
  });
};

/** A line for each detector; of several protocols one for each, the first ten. */
export const gistOf = (reading: Reading): Detection[] =>
  reading.each === undefined ? detectorLines(reading) : protocolLines(reading.each);
