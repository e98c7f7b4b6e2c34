/** A YAML document to plain values: aliases followed, merges done, variables replaced, the place of everything noted. */
import { type Alias, isAlias, isMap, isScalar, isSeq, type Scalar, type YAMLMap } from 'yaml';
import type { Path } from './display.ts';
import { DEEPEST, type EntryContext, entriesOf, offsetOf, TOO_DEEP } from './entries.ts';
import type { Finding } from './findings.ts';
import type { Interpolate } from './interpolate.ts';
import { createPositions, type Positions } from './positions.ts';
import type { Shape } from './shape.ts';
import type { Syntax } from './syntax.ts';

export interface Tree {
  /** Strings, numbers, booleans, null, lists, and maps without a prototype; undefined where a value could not be had. */
  value: unknown;
  positions: Positions;
  findings: Finding[];
  /** True where the value could not be had, so that nothing said of it means anything. */
  isBroken(path: Path): boolean;
  /** What was put into the value by interpolation, by name. */
  sourcesAt(path: Path): readonly string[];
}

/** More than any config has: only a bomb of aliases gets there. */
const MOST_NODES = 100_000;

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** A variable is text; where the schema wants a number or a boolean, it is read as one. */
const typed = (text: string, types: readonly string[]): unknown => {
  if (types.includes('string')) return text;
  if ((types.includes('number') || types.includes('integer')) && NUMBER.test(text)) return Number(text);
  return types.includes('boolean') && /^(true|false)$/.test(text) ? text === 'true' : text;
};

/** A chat id may be written as a number; its digits must not pass through a double. */
const keepsDigits = (source: string, types: readonly string[]): boolean =>
  types.includes('string') && types.includes('integer') && /^[-+]?\d+$/.test(source);

interface Dependencies {
  syntax: Pick<Syntax, 'document' | 'placeOf'>;
  shape: Shape;
  interpolate: Interpolate;
}

/** Reads the whole document; never throws for what the document holds. */
export const readTree = ({ syntax: { document, placeOf }, shape, interpolate }: Dependencies): Tree => {
  const positions = createPositions();
  const findings: Finding[] = [];
  const broken = new Set<string>();
  const sources = new Map<string, string[]>();
  let nodes = 0;

  const report = (path: Path, offset: number, rule: string): void => {
    if (nodes > MOST_NODES + 1) return;
    findings.push({ path, offset, rule });
  };
  const lose = (path: Path, rule: string): undefined => {
    report(path, positions.ofValue(path), rule);
    broken.add(JSON.stringify(path));
  };
  const context: EntryContext = { document, placeOf, report };

  const readText = (text: string, path: Path): unknown => {
    const replaced = interpolate(text);
    for (const rule of replaced.problems) lose(path, rule);
    if (replaced.problems.length > 0) return undefined;
    if (replaced.sources.length === 0) return replaced.text;
    sources.set(JSON.stringify(path), replaced.sources);
    return typed(replaced.text, shape.typesAt(path));
  };

  const readScalar = ({ value, source }: Scalar, path: Path): unknown => {
    if (typeof value === 'string') return value.includes('$') ? readText(value, path) : value;
    return typeof value === 'number' && source !== undefined && keepsDigits(source, shape.typesAt(path))
      ? source
      : value;
  };

  const readMap = (map: YAMLMap, path: Path, depth: number): Record<string, unknown> => {
    const values: Record<string, unknown> = Object.create(null);
    for (const { key, keyOffset, node } of entriesOf(map, path, context)) {
      values[key] = readAt(node, [...path, key], depth, keyOffset);
    }
    return values;
  };

  const readAlias = (alias: Alias, path: Path, depth: number): unknown => {
    const target = alias.resolve(document);
    return target ? read(target, path, depth) : lose(path, 'is an unknown alias');
  };

  const read = (node: unknown, path: Path, depth: number): unknown => {
    nodes += 1;
    if (depth > DEEPEST || nodes > MOST_NODES) return lose(path, TOO_DEEP);
    if (isAlias(node)) return readAlias(node, path, depth + 1);
    if (isMap(node)) return readMap(node, path, depth + 1);
    if (isSeq(node)) return node.items.map((item, index) => readAt(item, [...path, index], depth + 1));
    return isScalar(node) ? readScalar(node, path) : null;
  };

  const readAt = (node: unknown, path: Path, depth: number, key?: number): unknown => {
    // An empty value stands nowhere: its key is what the operator sees.
    const empty = isScalar(node) && node.source === '' && node.type === 'PLAIN';
    const value = (empty ? key : offsetOf(node)) ?? key ?? positions.ofValue(path);
    positions.note(path, key === undefined ? { value } : { key, value });
    return read(node, path, depth);
  };

  return {
    value: readAt(document.contents, [], 0),
    positions,
    findings,
    isBroken: (path) => nodes > MOST_NODES || broken.has(JSON.stringify(path)),
    sourcesAt: (path) => sources.get(JSON.stringify(path)) ?? [],
  };
};
