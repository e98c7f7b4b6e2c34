/** Lists that the operator hands in as JSON or YAML, checked whole before anything is sent. */

import { type Document, isScalar, isSeq, Scalar, visit, type YAMLSeq } from 'yaml';
import { z } from 'zod';
import {
  type Breach,
  type Explanation,
  explain,
  type Path,
  ruleOf,
  showKind,
  showPath,
  showValue,
} from '../config/problems.ts';
import { createShape, type Shape } from '../config/schema.ts';
import { type Finding, parseYaml, type Syntax, toProblems } from '../config/syntax.ts';
import { readTree, type Tree } from '../config/tree.ts';
import { readBytes } from '../config/variables.ts';
import { formatProblem, UnavailableError, UsageError } from '../errors.ts';
import type { AssetInput } from '../service/client.ts';
import { countedInWords } from '../text.ts';
import type { CommandContext } from './context.ts';

// The bytes or the text of an input: a file, or standard input where `-` is given for one.

/** Interfaces of contracts are long; what is larger is another file. */
const LARGEST_BYTES = 16 * 1024 * 1024;

/** Stands for standard input where a file is due. */
export const STANDARD_INPUT = '-';

const unreadable = (option: string, source: string, why: string) =>
  new UsageError(`${option} ${source} cannot be read: ${why}`);

/** At most 16 MiB. Throws a `UsageError` that names `option`, and an `UnavailableError` when it is stopped. */
export const readInputBytes = async (
  option: string,
  source: string,
  { readStdin, signal }: Pick<CommandContext, 'readStdin' | 'signal'>,
): Promise<Buffer> => {
  if (source !== STANDARD_INPUT) {
    const read = readBytes(source, LARGEST_BYTES);
    if (read.ok) return read.bytes;
    throw unreadable(option, source, read.why);
  }
  const bytes = await readStdin().catch((error: unknown) => {
    throw signal.aborted ? new UnavailableError('stopped while standard input was read') : error;
  });
  if (bytes.length <= LARGEST_BYTES) return Buffer.from(bytes);
  throw unreadable(option, source, `it is larger than ${LARGEST_BYTES / 1024} KiB`);
};

/** The same as UTF-8 text. */
const readInputText = async (
  option: string,
  source: string,
  context: Pick<CommandContext, 'readStdin' | 'signal'>,
): Promise<string> => {
  const bytes = await readInputBytes(option, source, context);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(option, source, 'it is not UTF-8 text');
  }
};

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

// Assets as the operator hands them in: the service's own shape, no field left out.

const ADDRESS_RULE = 'must be an address: 0x and 40 hex digits';
const CHAIN_RULE = 'must be a chain id: a whole number from 1';

const address = () => z.string({ error: ADDRESS_RULE }).regex(/^0x[0-9a-fA-F]{40}$/, { error: ADDRESS_RULE });

const asset = z.strictObject({
  chainId: z.int({ error: CHAIN_RULE }).min(1, { error: CHAIN_RULE }),
  abi: z.string({ error: 'must be the ABI, as a list or as its JSON text' }),
  address: address(),
  admins: z.array(address(), { error: 'must be a list of addresses; it may be empty' }),
  descriptor: z
    .string({ error: 'must be a name (put quotes around digits)' })
    .regex(/\S/, { error: 'must be a name, not blank' }),
});

/** `CHAIN ADDRESS` in one spelling, or undefined where the element has none. */
const contractOf = (element: unknown): string | undefined => {
  const { chainId, address: text } = Object(element) as { chainId?: unknown; address?: unknown };
  return typeof text === 'string' && typeof chainId === 'number' ? `${chainId} ${text.toLowerCase()}` : undefined;
};

const repeated = (elements: readonly unknown[]): Breach[] => {
  const contracts = elements.map(contractOf);
  return contracts.flatMap((contract, index) => {
    const first = contracts.indexOf(contract);
    return contract === undefined || first === index
      ? []
      : [{ path: [index], rule: `is the same contract as ${first}` }];
  });
};

export const ASSETS: ListKind<AssetInput> = {
  what: 'assets',
  schema: z
    .array(asset, { error: 'must be a list of assets' })
    .refine((list) => list.length > 0, { error: 'must name at least one' }),
  breachesOf: repeated,
  jsonTextAt: 'abi',
};
