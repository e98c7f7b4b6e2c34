/** What OpenTelemetry's SDK says where traces cannot be sent, without what must not be in a log. Pure. */
import { shorten } from '../text.ts';

const LONGEST = 300;

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
