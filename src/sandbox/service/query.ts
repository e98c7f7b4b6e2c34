/** Query strings as the service understands them. What is not a documented value is refused with 400. */
import type { ArrayStyle } from './quirks.ts';
import { Refusal } from './refusal.ts';

export interface Query {
  one(name: string): string | undefined;
  many(name: string): string[] | undefined;
  /** Epoch milliseconds. */
  date(name: string): number | undefined;
  integer(name: string): number | undefined;
  word<Word extends string>(name: string, words: readonly Word[]): Word | undefined;
  flag(name: string): boolean;
}

const manyOf = (pairs: readonly [string, string][], name: string, style: ArrayStyle): string[] => {
  const key = style === 'brackets' ? `${name}[]` : name;
  const values = pairs.filter(([found]) => found === key).map(([, value]) => value);
  return style === 'comma' ? (values[0] ?? '').split(',').filter((value) => value !== '') : values;
};

const isWord = <Word extends string>(value: string, words: readonly Word[]): value is Word =>
  (words as readonly string[]).includes(value);

/** ISO 8601 with a time, as the interface says; a bare number or a date alone is refused. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})$/;

export const readQuery = (raw: string, style: ArrayStyle): Query => {
  const pairs = [...new URLSearchParams(raw)];
  const one = (name: string): string | undefined => pairs.find(([found]) => found === name)?.[1];
  return {
    one,
    many: (name) => {
      const values = manyOf(pairs, name, style);
      return values.length === 0 ? undefined : values;
    },
    date: (name) => {
      const value = one(name);
      if (value === undefined) return undefined;
      const at = DATE_TIME.test(value) ? Date.parse(value) : Number.NaN;
      if (Number.isNaN(at)) throw new Refusal(400, `${name} must be an ISO 8601 date-time`);
      return at;
    },
    integer: (name) => {
      const value = one(name);
      if (value === undefined) return undefined;
      if (!/^-?\d{1,9}$/.test(value)) throw new Refusal(400, `${name} must be an integer`);
      return Number(value);
    },
    word: (name, words) => {
      const value = one(name);
      if (value === undefined) return undefined;
      if (!isWord(value, words)) throw new Refusal(400, `${name} must be one of ${words.join(', ')}`);
      return value;
    },
    flag: (name) => one(name) === 'true',
  };
};
