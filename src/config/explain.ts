/** What zod found, as sentences for the operator. */
import type { z } from 'zod';
import { counted } from '../text.ts';
import type { Path } from './display.ts';
import { nearest } from './suggest.ts';

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

const suggestion = (word: unknown, known: readonly string[]): string => {
  const near = typeof word === 'string' ? nearest(word, known) : undefined;
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
}

const unknownKeys = (path: Path, keys: readonly string[], { value, knownKeys }: Subject): Explanation[] => {
  const free = knownKeys.filter((key) => !keysOf(value).includes(key));
  return keys.map((key) => ({
    path: [...path, key],
    rule: `is not a known key${suggestion(key, free)}`,
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
