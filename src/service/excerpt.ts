/** What an answer from outside says, as text that is safe to show. */
import { cleanLine } from '../text.ts';

/** The beginning of a body that is searched, in UTF-16 units. */
export const EXCERPT_SOURCE_LIMIT = 16_384;

const MESSAGE_KEYS = ['message', 'error', 'detail', 'errors', 'title', 'reason', 'description'] as const;
const MAX_DEPTH = 4;

/** The first text that reads like a message, wherever the service put it: error bodies have no documented shape. */
const findMessage = (value: unknown, depth = 0): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return undefined;
  const inner: unknown[] = Array.isArray(value)
    ? value
    : MESSAGE_KEYS.map((key) => (Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined));
  for (const part of inner) {
    const found = findMessage(part, depth + 1);
    if (found !== undefined && found.trim() !== '') return found;
  }
  return undefined;
};

const htmlText = (html: string): string => {
  const title = /<(?:title|h1)\b[^<>]*>([^<]+)</i.exec(html)?.[1] ?? '';
  return title.trim() === '' ? html.replace(/<[^<>]*>/g, ' ') : title;
};

const jsonOf = (body: string): unknown => {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
};

/**
 * What a body says, in one line: a JSON message, an HTML title, or its text. May be empty. Not shortened, but only the
 * beginning of a large body is searched.
 */
export const excerptOf = (body: string): string => {
  const start = body.slice(0, EXCERPT_SOURCE_LIMIT);
  const json = jsonOf(start);
  if (json !== undefined) return cleanLine(findMessage(json) ?? start);
  return cleanLine(/^\s*</.test(start) ? htmlText(start) : start);
};
