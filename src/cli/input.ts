/** Lists that the operator hands in as JSON or YAML, checked whole before anything is sent. */
import { type Document, isScalar, isSeq, Scalar, visit, type YAMLSeq } from 'yaml';
import { z } from 'zod';
import type { Breach } from '../config/breach.ts';
import { type Path, showKind, showPath, showValue } from '../config/display.ts';
import { type Explanation, explain, ruleOf } from '../config/explain.ts';
import { type Finding, toProblems } from '../config/findings.ts';
import { createShape, type Shape } from '../config/shape.ts';
import { parseYaml, type Syntax } from '../config/syntax.ts';
import { readTree, type Tree } from '../config/tree.ts';
import { formatProblem, UsageError } from '../errors.ts';
import { countedInWords } from '../text.ts';
import type { CommandContext } from './context.ts';
import { readInputText, STANDARD_INPUT } from './input-text.ts';

/** What a list has to be. */
export interface ListKind<T> {
  /** Plural: `assets`; the option that takes it is called so. */
  what: string;
  schema: z.ZodType<T[]>;
  /** What is wrong beyond the schema; takes the elements as they were read, also wrong ones. */
  breachesOf(elements: readonly unknown[]): Breach[];
  /** A key that may hold a list in place of its JSON text. */
  jsonTextAt?: string;
}

const refusal = ({ what }: Pick<ListKind<unknown>, 'what'>, file: string, findings: Finding[], { placeOf }: Syntax) => {
  // The whole list is called by its name, whether its content or its syntax is wrong.
  const named = findings.map((found) => (typeof found.path[0] === 'number' ? found : { ...found, path: [what] }));
  const problems = toProblems(file, named, placeOf);
  const count = countedInWords(problems.length, 'problem');
  return new UsageError([`the ${what} have ${count}; nothing was sent:`, ...problems.map(formatProblem)].join('\n'));
};

/** A list that aliases make endless or huge stays a list. */
const jsonOf = (list: YAMLSeq, document: Document): string | undefined => {
  try {
    return JSON.stringify(list.toJS(document));
  } catch {
    return undefined;
  }
};

const asJsonText = (list: YAMLSeq, document: Document): Scalar | YAMLSeq => {
  const json = jsonOf(list, document);
  if (json === undefined) return list;
  const text = new Scalar(json);
  if (list.range) text.range = list.range;
  if (list.anchor !== undefined) text.anchor = list.anchor;
  return text;
};

/** YAML reads an address without quotes as a number, and would round it. */
const keepHex = (node: Scalar): void => {
  if (typeof node.value === 'number' && /^0x/.test(node.source ?? '')) node.value = node.source;
};

const prepare = (document: Document.Parsed, jsonTextAt: string | undefined): void => {
  visit(document, {
    Scalar: (_, node) => keepHex(node),
    Pair: (_, pair) => {
      const isWanted = isScalar(pair.key) && pair.key.value === jsonTextAt;
      if (isWanted && isSeq(pair.value)) pair.value = asJsonText(pair.value, document);
    },
  });
};

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined),
    value,
  );

const kindOf = (value: unknown): string => (Array.isArray(value) ? 'array' : typeof value);

/** A list or a map is shown only where something else is due. */
const gotAt = (value: unknown, path: Path, shape: Shape): string | undefined => {
  if (typeof value === 'object' && shape.typesAt(path).includes(kindOf(value))) return undefined;
  return shape.isSecret(path) ? showKind(value) : showValue(value);
};

const place = (tree: Tree, shape: Shape, { path, rule, at, isUnknown }: Explanation): Finding => {
  if (at === 'key') return { path, rule, offset: tree.positions.ofKey(path), ...(isUnknown && { isUnknown }) };
  const offset = tree.positions.ofValue(path);
  const value = valueAt(tree.value, path);
  if (value === undefined) return { path, offset, rule: 'is required' };
  if (value === null) return { path, offset, rule: 'is empty' };
  const got = gotAt(value, path, shape);
  return { path, offset, rule, ...(got === undefined ? {} : { got }) };
};

const explanationsOf = (issue: z.core.$ZodIssue, tree: Tree, shape: Shape): Explanation[] => {
  const path = issue.path.filter((key) => typeof key !== 'symbol');
  return explain(issue, { value: valueAt(tree.value, path), knownKeys: shape.keysAt(path) });
};

/** Leaves out what the schema has reported already. */
const breachesOf = <T>({ value, positions }: Tree, kind: ListKind<T>, explained: readonly Finding[]): Finding[] => {
  const known = new Set(explained.map(({ path }) => showPath(path)));
  return (Array.isArray(value) ? kind.breachesOf(value) : [])
    .filter(({ path }) => !known.has(showPath(path)))
    .map(({ path, rule }) => ({ path, rule, offset: positions.ofValue(path) }));
};

/** `file` is the text's name in problems. Throws a `UsageError` with every problem and its place. */
export const parseList = <T>(text: string, file: string, kind: ListKind<T>): T[] => {
  const syntax = parseYaml(text);
  const { document, findings } = syntax;
  if (!syntax.whole) throw refusal(kind, file, findings, syntax);
  if (document.contents === null) throw refusal(kind, file, [{ path: [], offset: 0, rule: 'must be a list' }], syntax);
  prepare(document, kind.jsonTextAt);
  const shape = createShape(z.toJSONSchema(kind.schema, { io: 'input' }));
  const interpolate = (plain: string) => ({ text: plain, sources: [], problems: [] });
  const tree = readTree({ syntax, shape, interpolate });
  const result = kind.schema.safeParse(tree.value, { error: ruleOf });
  const explained = (result.error?.issues ?? [])
    .flatMap((issue) => explanationsOf(issue, tree, shape))
    .filter(({ path }) => !tree.isLost(path))
    .map((explanation) => place(tree, shape, explanation));
  const all = [...findings, ...tree.findings, ...explained, ...breachesOf(tree, kind, explained)];
  if (result.success && all.length === 0) return result.data;
  throw refusal(kind, file, all, syntax);
};

/** Reads the file that `--WHAT` names, or standard input for `-`, and checks it. Throws a `UsageError`. */
export const readList = async <T>(
  source: string,
  kind: ListKind<T>,
  context: Pick<CommandContext, 'readStdin' | 'signal'>,
): Promise<T[]> => {
  const text = await readInputText(`--${kind.what}`, source, context);
  return parseList(text, source === STANDARD_INPUT ? 'stdin' : source, kind);
};
