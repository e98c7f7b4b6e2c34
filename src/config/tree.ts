/** A YAML document to plain values: aliases followed, merges done, variables replaced, the place of everything noted. */
import { isAlias, isMap, isScalar, isSeq, type Scalar, type YAMLMap } from 'yaml';
import type { Path } from './display.ts';
import { DEEPEST, entriesOf, offsetOf, TOO_DEEP } from './entries.ts';
import type { Interpolate } from './interpolate.ts';
import { createNotes, type Notes } from './notes.ts';
import { readScalar } from './scalars.ts';
import type { Shape } from './shape.ts';
import type { Syntax } from './syntax.ts';

export interface Tree extends Pick<Notes, 'positions' | 'findings' | 'missing' | 'sourcesAt'> {
  /** Strings, numbers, booleans, null, lists, and maps without a prototype; undefined where a value could not be read. */
  value: unknown;
  /** True where the value could not be read: problems of its kind or form mean nothing then. */
  isLost(path: Path): boolean;
}

/** More than any real config has; only aliases of aliases get there. */
const MOST_NODES = 100_000;

interface Dependencies {
  syntax: Pick<Syntax, 'document' | 'placeOf'>;
  shape: Shape;
  interpolate: Interpolate;
}

/** Reads the whole document; never throws for what the document holds. */
export const readTree = ({ syntax: { document, placeOf }, shape, interpolate }: Dependencies): Tree => {
  const notes = createNotes();
  const { positions, findings, missing, report, lose, sourcesAt } = notes;
  let nodes = 0;

  // Beyond the bound every further node is too much; one finding is enough.
  const tooDeep = (path: Path): unknown => (nodes > MOST_NODES + 1 ? undefined : lose(path, TOO_DEEP));

  const scalar = (node: Scalar, path: Path): unknown => {
    const { value, sources, problems } = readScalar(node, shape.typesAt(path), interpolate);
    if (sources.length > 0) notes.came(path, sources);
    for (const rule of problems) notes.miss(path, rule);
    return problems.length > 0 ? undefined : value;
  };

  const map = (node: YAMLMap, path: Path, depth: number): Record<string, unknown> => {
    const values: Record<string, unknown> = Object.create(null);
    for (const entry of entriesOf(node, path, { document, placeOf, report })) {
      values[entry.key] = readAt(entry.node, [...path, entry.key], depth, entry.keyOffset);
    }
    return values;
  };

  const read = (node: unknown, path: Path, depth: number): unknown => {
    nodes += 1;
    if (depth > DEEPEST || nodes > MOST_NODES) return tooDeep(path);
    if (isAlias(node)) {
      const target = node.resolve(document);
      return target ? read(target, path, depth + 1) : lose(path, 'is an unknown alias');
    }
    if (isMap(node)) return map(node, path, depth + 1);
    if (isSeq(node)) return node.items.map((item, index) => readAt(item, [...path, index], depth + 1));
    return isScalar(node) ? scalar(node, path) : null;
  };

  const readAt = (node: unknown, path: Path, depth: number, key?: number): unknown => {
    // An empty value has no place of its own: its key is what the operator sees.
    const empty = isScalar(node) && node.source === '' && node.type === 'PLAIN';
    const value = (empty ? key : offsetOf(node)) ?? key ?? positions.ofValue(path);
    positions.note(path, key === undefined ? { value } : { key, value });
    return read(node, path, depth);
  };

  const value = readAt(document.contents, [], 0);
  return { value, positions, findings, missing, sourcesAt, isLost: (path) => nodes > MOST_NODES || notes.isLost(path) };
};
