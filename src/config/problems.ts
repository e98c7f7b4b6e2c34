/** Problems of a config in words: keys and values as they are shown, and what each rule says. */

import type { z } from 'zod';
import { isObject } from '../alert.ts';
import { createScrubber } from '../secret.ts';
import { cleanLine, counted, shorten } from '../text.ts';

/** Where a key or value stands. */
export type Path = readonly (string | number)[];

const LONGEST_KEY = 80;
const LONGEST_VALUE = 60;

/** User, password, path and query of a URL may each be a secret: what is left is scheme and host. */
export const hideUrlTails = (text: string): string =>
  text.replace(
    /([a-z][a-z0-9+.-]*:\/\/)(?:[^\s/?#]*@)?([^\s/?#@]*)([/?#]\S*)?/gi,
    (_, scheme: string, host: string, tail?: string) => `${scheme}${host}${tail === undefined ? '' : '/…'}`,
  );

const scrubShapes = createScrubber([]);

/** On one line, short, and without what may be secret. */
const plain = (text: string, limit: number): string => shorten(scrubShapes(hideUrlTails(cleanLine(text))), limit);

/** One key, as it is shown in a path or a sentence. */
const showKey = (key: string | number): string => plain(String(key), LONGEST_KEY);

/** As a key may look whose name somebody mistyped. A value that slipped to the place of a key may be a secret. */
const LIKE_A_KEY = /^(?:[a-z][a-z._-]{0,39}|.{0,12})$/i;

/** One that the file must not have: the place in the file shows what it is, where this does not. */
export const showUnknownKey = (key: string): string =>
  LIKE_A_KEY.test(key) ? showKey(key) : `(${counted(key.length, 'character')})`;

/** Dotted; the whole file is `config`. */
export const showPath = (path: Path): string => path.map(showKey).join('.') || 'config';

/** The value as YAML would have it, for a place where a scalar is due; lists and maps only by kind. */
export const showValue = (value: unknown): string => {
  if (value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : `a list of ${value.length}`;
  if (typeof value === 'object') return 'a map';
  return typeof value === 'string' ? `"${plain(value, LONGEST_VALUE)}"` : plain(String(value), LONGEST_VALUE);
};

/** Only what kind of value it is. */
export const showKind = (value: unknown): string => {
  if (typeof value === 'string') return 'a text';
  if (typeof value === 'number') return 'a number';
  return typeof value === 'boolean' ? 'true or false' : showValue(value);
};

/** What a rule over several keys finds. Such rules read values that may be wrong by themselves. */
export interface Breach {
  path: Path;
  rule: string;
}

export type Values = Readonly<Record<string, unknown>>;

/** Empty where it is no map. */
export const mapOf = (value: unknown): Values => (isObject(value) ? value : {});

/** Empty where it is no list. */
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** A key whose variable is missing has no value, but it is there. */
export const has = (values: Values, key: string): boolean => Object.hasOwn(values, key);

/** Edits (insert, drop, change, swap of neighbours) from one word to the other; optimal string alignment distance. */
const distance = (a: string, b: string): number => {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
  for (let row = 1; row <= a.length; row += 1) {
    const line = [row];
    rows.push(line);
    for (let column = 1; column <= b.length; column += 1) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (same ? 0 : 1),
        swapped ? at(row - 2, column - 2) + 1 : Number.POSITIVE_INFINITY,
      );
    }
  }
  return at(a.length, b.length);
};

const fold = (word: string): string => word.toLowerCase().replace(/[-_\s]/g, '');

const LONGEST_WORD = 40;

/** The nearest of `known`, if no more than a third of it is mistyped; case, `-` and `_` do not count. */
export const nearest = (word: string, known: readonly string[]): string | undefined => {
  if (word.length > LONGEST_WORD) return undefined;
  const [best] = known
    .map((candidate) => ({ candidate, edits: distance(fold(word), fold(candidate)) }))
    .filter(
      ({ candidate, edits }) => edits <= Math.max(1, Math.floor(candidate.length / 3)) && edits < candidate.length,
    )
    .toSorted((a, b) => a.edits - b.edits);
  return best?.candidate;
};

/** Goes on from what is wrong with a mistyped word; empty where nothing is near. */
export const didYouMean = (word: string, known: readonly string[]): string => {
  const near = nearest(word, known);
  return near === undefined ? '' : `; did you mean '${near}'?`;
};

type Issue = z.core.$ZodIssue;
type RawIssue = z.core.$ZodRawIssue;

const KINDS: Readonly<Record<string, string>> = {
  object: 'must be a map',
  record: 'must be a map',
  array: 'must be a list',
  string: 'must be a text (put quotes around digits)',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
};

const LENGTHS: Readonly<Record<string, readonly [one: string, many: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
  object: ['key', 'keys'],
  record: ['key', 'keys'],
};

const bound = (word: string, value: number | bigint, origin: string): string => {
  const [one, many] = LENGTHS[origin] ?? [];
  return one === undefined ? `must be ${word} ${value}` : `must have ${word} ${counted(Number(value), one, many)}`;
};

/** For issues that the schema itself has no sentence for. */
export const ruleOf = (issue: RawIssue): string => {
  switch (issue.code) {
    case 'invalid_type':
      return KINDS[issue.expected] ?? `must be of type ${issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return bound('at least', issue.minimum, issue.origin);
    case 'too_big':
      return bound('at most', issue.maximum, issue.origin);
    default:
      return 'does not have the right form';
  }
};

/** What other programs call our keys. */
const MEANINGS: Readonly<Record<string, readonly string[]>> = {
  address: ['url', 'baseUrl', 'contacts'],
  apitoken: ['apiKey', 'botToken'],
  channel: ['channels'],
  endpoint: ['baseUrl', 'url'],
  hostname: ['host'],
  key: ['apiKey'],
  login: ['user', 'username'],
  password: ['pass'],
  passwd: ['pass', 'password'],
  pollinterval: ['interval'],
  port: ['listen'],
  pwd: ['pass', 'password'],
  recipients: ['contacts'],
  sender: ['from'],
  server: ['host'],
  signingkey: ['secret'],
  smtphost: ['host'],
  to: ['contacts'],
  token: ['botToken', 'apiKey'],
  uri: ['url', 'baseUrl'],
  url: ['baseUrl'],
  user: ['username'],
  username: ['user'],
};

/** The key that has another name or stands deeper in the map. */
const meant = (word: string, known: readonly string[]): string | undefined =>
  [word, ...(MEANINGS[fold(word)] ?? [])]
    .map((name) => known.find((key) => fold(key.replace(/^.*\./, '')) === fold(name)))
    .find((key) => key !== undefined);

const suggestion = (word: unknown, known: readonly string[], inner: readonly string[] = []): string => {
  const near = typeof word === 'string' ? (meant(word, [...known, ...inner]) ?? nearest(word, known)) : undefined;
  return near === undefined ? '' : `; did you mean ${near}?`;
};

export interface Explanation {
  path: Path;
  rule: string;
  /** Whether the place is the key or the value. */
  at: 'key' | 'value';
  /** The kind or the length is wrong, so showing "a list of 3" or "a map" helps. */
  isKind?: boolean;
  /** The last key of the path is none that may stand there. */
  isUnknown?: true;
}

const keysOf = (value: unknown): string[] => (typeof value === 'object' && value !== null ? Object.keys(value) : []);

export interface Subject {
  /** The value that the issue speaks of, as it was read. */
  value: unknown;
  /** Keys that may stand beside it, where it is a map. */
  knownKeys: readonly string[];
  /** Keys of the maps in it, as `smtp.host`. */
  innerKeys?: readonly string[];
}

const unknownKeys = (path: Path, keys: readonly string[], { value, knownKeys, innerKeys }: Subject): Explanation[] => {
  const free = knownKeys.filter((key) => !keysOf(value).includes(key));
  return keys.map((key) => ({
    path: [...path, key],
    rule: `is not a known key${suggestion(key, free, innerKeys)}`,
    at: 'key',
    isUnknown: true,
  }));
};

/** One issue may name several keys, hence a list. */
export const explain = (issue: Issue, subject: Subject): Explanation[] => {
  const path = issue.path.filter((key) => typeof key !== 'symbol');
  switch (issue.code) {
    case 'unrecognized_keys':
      return unknownKeys(path, issue.keys, subject);
    case 'invalid_key':
      return [{ path, rule: issue.issues[0]?.message ?? issue.message, at: 'key' }];
    case 'invalid_value':
      return [{ path, rule: issue.message + suggestion(subject.value, issue.values.map(String)), at: 'value' }];
    case 'invalid_type':
    case 'invalid_union':
    case 'too_big':
      return [{ path, rule: issue.message, at: 'value', isKind: true }];
    default:
      return [{ path, rule: issue.message, at: 'value' }];
  }
};
