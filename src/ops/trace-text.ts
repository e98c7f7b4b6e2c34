/** Texts of traces: those of spans are short, and what the SDK says has nothing in it that must not be in a log. Pure. */
import { shorten } from '../text.ts';

const LONGEST = 300;
/** Thousands of spans wait while the collector is away, and names and ids come from the service. */
export const LONGEST_ATTRIBUTE = 256;

/** A copy where it is cut: a part of a text keeps the whole one in memory. */
export const attributeText = (text: string): string =>
  text.length <= LONGEST_ATTRIBUTE ? text : Buffer.from(shorten(text, LONGEST_ATTRIBUTE)).toString();

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/**
 * An error comes as JSON, with its stack and with what the collector answered: that may be long, and may repeat the headers
 * with which we asked, as with a key.
 */
export const traceFault = (text: string): string => {
  const error = parsed(text);
  if (typeof error !== 'object' || error === null) return shorten(text, LONGEST);
  const { message, name, code } = error as { message?: unknown; name?: unknown; code?: unknown };
  const said = textOf(message) || textOf(name) || 'no answer';
  return shorten(textOf(code) === '' ? said : `${said} (${textOf(code)})`, LONGEST);
};
