/** Values and names from outside, whose shape nobody promises, as programs and people read them. Pure. */
import { isObject, type JsonObject, type JsonValue } from '../../alert.ts';
import { orUndefined } from '../../errors.ts';
import { capital, cleanLine, shorten, shortenMiddle, unquoted } from '../../text.ts';
import { isAddress, isHash } from '../chains.ts';

/** No object: one without fields. */
export const objectIn = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** The object that a JSON text is; without fields where it is another value, or no JSON. */
export const jsonObjectIn = (text: string): Record<string, unknown> =>
  objectIn(orUndefined<unknown>(() => JSON.parse(text)));

/** Empty for anything but a text. Not cleaned. */
export const textIn = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The same of an id, which may be a number. */
export const idIn = (value: unknown): string => (typeof value === 'number' ? String(value) : textIn(value));

export const UNKNOWN = 'unknown';

/** A field as plain text. A value of another type is shown as JSON, a missing one as `unknown`. */
export const text = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null || value === '') return UNKNOWN;
  return cleanLine(typeof value === 'object' ? JSON.stringify(value) : String(value)) || UNKNOWN;
};

export const objectOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

/** Longer names are cut: they stand in one line with others. */
const NAME_LIMIT = 60;

/** Every dot in the middle of a line, in any script: ours part what we say. */
const DOTS =
  /[\u00b7\u0387\u1427\u16eb\u2022\u2024\u2027\u2219\u22c5\u25aa\u25cf\u25e6\u2981\u29bf\u2e30\u2e31\u2e33\u30fb\ua78f\uff65\u{10101}\u{1f784}]/gu;

/** Our signs, and what else is seen as one: coloured circles, squares and diamonds, marks, ticks and crosses, sirens, tubes. */
const SIGNS =
  /[\u203c\u2049\u2139\u2611\u2612\u26a0\u26aa\u26ab\u26d4\u2705\u2713-\u2718\u274c\u274e\u2753-\u2757\u2b1b\u2b1c\u2b24\u2b55\u{1f195}-\u{1f19a}\u{1f514}\u{1f515}\u{1f518}\u{1f534}-\u{1f53b}\u{1f6a8}\u{1f6d1}\u{1f7e0}-\u{1f7eb}\u{1f9ea}]/gu;

/** A text from outside beside parts of ours: our dots part these. */
export const withoutDots = (text: string): string => text.replace(DOTS, '-');

/** Most names have nothing that could. */
const HARMLESS = /^[\w.:/-]+(?: [\w.:/-]+)*$/;

/** A name from outside within a line of ours: it must not look like the dots, signs and quotes that part our own words. */
export const inlineName = (name: string): string => {
  if (HARMLESS.test(name)) return shorten(name, NAME_LIMIT);
  const cleaned = cleanLine(name);
  const plain = cleanLine(unquoted(withoutDots(cleaned.replace(SIGNS, ' '))));
  return shorten(plain === '' && cleaned !== '' ? 'unnamed' : plain, NAME_LIMIT);
};

const WORD = /^[a-z][A-Za-z0-9_-]*$/;

/** A run of capitals or digits keeps its spelling: `ERC20`. */
const wordOf = (word: string): string => (/^[A-Z0-9]{2,}$/.test(word) ? word : word.toLowerCase());

/**
 * `drasticBalanceChange` -> `Drastic balance change`, `flash_loan` -> `Flash loan`. A name of another shape is shown as it
 * came.
 */
export const readableName = (id: string): string => {
  const name = cleanLine(id);
  if (!WORD.test(name)) return inlineName(name);
  const words = name
    .replace(/[_-]+/g, ' ')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z0-9]+)([A-Z][a-z])/g, '$1 $2')
    .trim()
    .split(' ')
    .map(wordOf)
    .join(' ');
  return shorten(capital(words), NAME_LIMIT);
};

const HEX = { head: 6, tail: 4 };

/** `0x5033…5ccb` of a hash or an address; the beginning of anything else. */
export const shortHex = (value: string): string =>
  isHash(value) || isAddress(value) ? shortenMiddle(value, HEX) : shorten(value, 2 * NAME_LIMIT);

/** A word of digits that is at least as long as an address, or without `0x` as a hash. */
const LONG_HEX = /\b(?:0x[0-9a-f]{40,}|[0-9a-f]{64,})\b/gi;

/** Every hash and address in a text, for a line that people read at a glance. `nameOf`: what people call an address. */
export const shortenHex = (text: string, nameOf = (_hex: string): string | undefined => undefined): string =>
  text.replace(LONG_HEX, (hex) => nameOf(hex) ?? shortenMiddle(hex, /^0x/i.test(hex) ? HEX : { head: 4, tail: 4 }));
