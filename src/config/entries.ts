/** The keys of one YAML map, with those that `<<` merges into it. */
import { type Document, isAlias, isCollection, isMap, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml';
import type { Path } from './display.ts';
import type { PlaceOf } from './positions.ts';

export interface Entry {
  key: string;
  keyOffset: number;
  /** A node of the document, or null. */
  node: unknown;
}

export interface EntryContext {
  document: Document.Parsed;
  placeOf: PlaceOf;
  report(path: Path, offset: number, rule: string): void;
}

/** No real config is as deep; an alias that holds itself is. */
export const DEEPEST = 32;
export const TOO_DEEP = 'is nested too deep, or holds itself by an alias';

export const offsetOf = (node: unknown): number | undefined =>
  isScalar(node) || isCollection(node) || isAlias(node) ? node.range?.[0] : undefined;

const textOf = (node: unknown): string | undefined => {
  if (!isScalar(node)) return undefined;
  return typeof node.value === 'string' ? node.value : node.source;
};

const keyRule = (key: string | undefined): string | undefined => {
  if (key === undefined || key === '') return 'has a key that is no text';
  // It would change the prototype of the object that holds the keys.
  if (key === '__proto__') return 'is not allowed as a key';
  return /\$\{/.test(key) ? 'holds a variable, and these are replaced in values only' : undefined;
};

const ownEntries = (map: YAMLMap, path: Path, context: EntryContext): Entry[] => {
  const found = new Map<string, Entry>();
  for (const pair of map.items as Pair[]) {
    const key = textOf(pair.key);
    const keyOffset = offsetOf(pair.key) ?? offsetOf(map) ?? 0;
    const rule = keyRule(key);
    const first = key === undefined ? undefined : found.get(key);
    if (key === undefined || rule !== undefined) {
      context.report(key ? [...path, key] : path, keyOffset, rule ?? '');
    } else if (first === undefined) {
      found.set(key, { key, keyOffset, node: pair.value });
    } else {
      context.report(
        [...path, key],
        keyOffset,
        `is given twice, first on line ${context.placeOf(first.keyOffset).line}`,
      );
    }
  }
  return [...found.values()];
};

const mergedEntries = ({ node, keyOffset }: Entry, path: Path, context: EntryContext, depth: number): Entry[] => {
  const follow = (target: unknown) => (isAlias(target) ? target.resolve(context.document) : target);
  const target = follow(node);
  return (isSeq(target) ? target.items.map(follow) : [target]).flatMap((map) => {
    if (isMap(map) && depth < DEEPEST) return entriesOf(map, path, context, depth + 1);
    context.report([...path, '<<'], keyOffset, isMap(map) ? TOO_DEEP : 'must be an alias of a map, or a list of them');
    return [];
  });
};

/** Own keys first; a merged key counts only where the map, or an earlier merge, does not have it. */
export const entriesOf = (map: YAMLMap, path: Path, context: EntryContext, depth = 0): Entry[] => {
  const own = ownEntries(map, path, context);
  const merge = own.find(({ key }) => key === '<<');
  if (merge === undefined) return own;
  const all = [...own.filter((entry) => entry !== merge), ...mergedEntries(merge, path, context, depth)];
  return [...new Map(all.toReversed().map((entry) => [entry.key, entry])).values()].toReversed();
};
