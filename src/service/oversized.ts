/** An answer that was cut off because a single item made it too large: finds what names that item in the beginning. */
import type { JsonObject } from '../alert.ts';
import type { Page } from './wire.ts';

const PAGE = /"page"\s*:\s*\[\s*(?=\{)/;

/** What helps to find the item at the service. */
const NAMED_BY = ['_id', 'id', 'txHash', 'protocol', 'createdAt'] as const;
/** So much of an item is searched for it, and so much is shown of one that has nothing of it. */
const SEARCHED = 65_536;
const SHOWN = 300;

const STEPS: ReadonlyMap<string | undefined, number> = new Map([
  ['{', 1],
  ['[', 1],
  ['}', -1],
  [']', -1],
]);

/** How many brackets are open at `to`, of those from `from` on; 0 where the first one was closed before. */
const depthAt = (text: string, from: number, to: number): number => {
  let depth = 0;
  let isText = false;
  for (let at = from; at < to; at += 1) {
    const char = text[at];
    if (isText && char === '\\') at += 1;
    else if (char === '"') isText = !isText;
    else if (!isText) depth += STEPS.get(char) ?? 0;
    if (depth === 0) return 0;
  }
  return depth;
};

/** Short texts and numbers that stand directly in the item. */
const fieldOf = (item: string, name: string): JsonObject => {
  for (const match of item.matchAll(
    new RegExp(`"${name}"\\s*:\\s*("(?:[^"\\\\]|\\\\.){1,200}"|\\d{1,20}(?=[\\s,}]))`, 'g'),
  )) {
    if (depthAt(item, 0, match.index) !== 1) continue;
    try {
      return { [name]: JSON.parse(match[1] ?? '') };
    } catch {
      return {};
    }
  }
  return {};
};

/**
 * The page of one item that was asked for, with that item as malformed. Undefined where the first item ends before the
 * bound: then there are others, and none may be passed over.
 */
export const pageOfOversized = (start: string, maxBytes: number): Page<never> | undefined => {
  const match = PAGE.exec(start.slice(0, SEARCHED));
  if (match === null) return undefined;
  const from = match.index + match[0].length;
  if (depthAt(start, from, start.length) === 0) return undefined;
  const item = start.slice(from, from + SEARCHED);
  const names: JsonObject = Object.assign({}, ...NAMED_BY.map((name) => fieldOf(item, name)));
  const raw = Object.keys(names).length > 0 ? names : item.slice(0, SHOWN);
  return { items: [], malformed: [{ problem: `larger than ${maxBytes} bytes`, raw, bound: 'answer-bytes' }] };
};
