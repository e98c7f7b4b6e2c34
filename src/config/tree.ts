/** A YAML document to plain values: aliases followed, merges done, variables replaced, the place of everything noted. */
import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import type { Path } from './problems.ts';
import type { Shape } from './schema.ts';
import { createPositions, type Finding, type PlaceOf, type Positions, type Syntax } from './syntax.ts';
import type { Interpolate } from './variables.ts';

interface Entry {
  key: string;
  keyOffset: number;
  /** A node of the document, or null. */
  node: unknown;
}

interface EntryContext {
  document: Document.Parsed;
  placeOf: PlaceOf;
  report(path: Path, offset: number, rule: string): void;
}

/** No real config is as deep; an alias that holds itself is. */
const DEEPEST = 32;
const TOO_DEEP = 'is nested too deep, or holds itself by an alias';

const offsetOf = (node: unknown): number | undefined =>
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

/** The keys of a map, with those that `<<` merges into it. Own keys first; a merged key counts only where the map, or an earlier merge, does not have it. */
const entriesOf = (map: YAMLMap, path: Path, context: EntryContext, depth = 0): Entry[] => {
  const own = ownEntries(map, path, context);
  const merge = own.find(({ key }) => key === '<<');
  if (merge === undefined) return own;
  const all = [...own.filter((entry) => entry !== merge), ...mergedEntries(merge, path, context, depth)];
  return [...new Map(all.toReversed().map((entry) => [entry.key, entry])).values()].toReversed();
};

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

/** Variables are replaced; where there are problems, the value is not to be used. `types`: the JSON Schema types of the place. */
const readScalar = ({ value, source }: Scalar, types: readonly string[], interpolate: Interpolate) => {
  if (typeof value === 'string' && value.includes('$')) {
    const { text, sources, problems } = interpolate(value);
    return { value: sources.length === 0 ? text : typed(text, types), sources, problems };
  }
  const asWritten = typeof value === 'number' && source !== undefined && keepsDigits(source, types);
  return { value: asWritten ? source : value, sources: [], problems: [] };
};

/** What is noted while a document is read: places, findings, and which values came from variables or files. */
const createNotes = () => {
  const positions = createPositions();
  const findings: Finding[] = [];
  const missing: Path[] = [];
  const lost = new Set<string>();
  const sources = new Map<string, readonly string[]>();
  const lose = (path: Path, rule: string): undefined => {
    findings.push({ path, offset: positions.ofValue(path), rule });
    lost.add(JSON.stringify(path));
  };
  return {
    positions,
    findings,
    missing,
    /** Something is wrong beside the values. */
    report: (path: Path, offset: number, rule: string): void => {
      findings.push({ path, offset, rule });
    },
    /** The value itself could not be read. */
    lose,
    /** The same because of a variable that is not set, or a file that cannot be read. */
    miss: (path: Path, rule: string): void => {
      lose(path, rule);
      missing.push(path);
    },
    came: (path: Path, names: readonly string[]): void => {
      sources.set(JSON.stringify(path), names);
    },
    isLost: (path: Path): boolean => lost.has(JSON.stringify(path)),
    sourcesAt: (path: Path): readonly string[] => sources.get(JSON.stringify(path)) ?? [],
  };
};

export interface Tree {
  /** Strings, numbers, booleans, null, lists, and maps without a prototype; undefined where a value could not be read. */
  value: unknown;
  positions: Positions;
  findings: readonly Finding[];
  /** Where a variable is not set, or a file cannot be read. */
  missing: readonly Path[];
  /** Names of what interpolation put into the value. */
  sourcesAt(path: Path): readonly string[];
  /** True where the value could not be read: problems of its kind or form mean nothing then. */
  isLost(path: Path): boolean;
}

/** More than any real config has; only aliases of aliases get there. */
const MOST_NODES = 100_000;

/** Reads the whole document; never throws for what the document holds. */
export const readTree = ({ document, placeOf }: Syntax, shape: Shape, interpolate: Interpolate): Tree => {
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
