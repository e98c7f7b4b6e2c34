/** How keys and values of the file are shown in a problem: on one line, short, and without what may be secret. */
import { createScrubber } from '../secret.ts';
import { cleanLine, counted, shorten } from '../text.ts';

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
