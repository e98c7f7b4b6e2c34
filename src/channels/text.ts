/** Text from outside, made safe to show: no control, direction or invisible characters, and cut where the reader can see it. */

/** Control characters except line feed and tab; bidirectional controls; zero-width and other invisible format characters; lone surrogates. */
const INVISIBLE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: removing them is the purpose
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|[\u{e0000}-\u{e007f}]/gu;

/** Several lines of text, made safe to show. */
export const cleanText = (text: string): string =>
  text
    .replace(/\r\n?|[\u2028\u2029]/g, '\n')
    .replace(INVISIBLE, '')
    .trim();

/** The same for a place that has one line only. */
export const cleanLine = (text: string): string => cleanText(text).replace(/\s+/g, ' ');

/** Keeps at most `limit` UTF-16 units, never half a character, and says so with an ellipsis. */
export const shorten = (text: string, limit: number): string => {
  if (text.length <= limit) return text;
  const cut = text.slice(0, Math.max(0, limit - 1)).replace(/[\ud800-\udbff]$/, '');
  return `${cut.trimEnd()}…`;
};
