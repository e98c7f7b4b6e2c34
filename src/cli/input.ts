/** Lists that the operator hands in as JSON or YAML, checked whole before anything is sent. */

import { type Document, isScalar, isSeq, Scalar, visit, type YAMLSeq } from 'yaml';
import { z } from 'zod';
import { checkTree } from '../config/check.ts';
import { type Breach, showPath } from '../config/problems.ts';
import { createShape } from '../config/schema.ts';
import { type Finding, parseYaml, type Syntax, toProblems } from '../config/syntax.ts';
import { readTree } from '../config/tree.ts';
import { readBytes } from '../config/variables.ts';
import { formatProblem, orUndefined, UnavailableError, UsageError } from '../errors.ts';
import type { AssetInput } from '../service/client.ts';
import { countedInWords } from '../text.ts';
import type { CommandContext } from './context.ts';

type Stdin = Pick<CommandContext, 'readStdin' | 'signal'>;

/** Interfaces of contracts are long; what is larger is another file. */
const LARGEST_BYTES = 16 * 1024 * 1024;

/** Stands for standard input where a file is due. */
export const STANDARD_INPUT = '-';

const unreadable = (option: string, source: string, why: string) =>
  new UsageError(`${option} ${source} cannot be read: ${why}`);

/** A file, or standard input; at most 16 MiB. Throws a `UsageError` that names `option`, and an `UnavailableError` when it is stopped. */
export const readInputBytes = async (option: string, source: string, { readStdin, signal }: Stdin): Promise<Buffer> => {
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
const readInputText = async (option: string, source: string, context: Stdin): Promise<string> => {
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
const jsonOf = (list: YAMLSeq, document: Document): string | undefined =>
  orUndefined(() => JSON.stringify(list.toJS(document)));

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

/** `file` is the text's name in problems. Throws a `UsageError` with every problem and its place. */
export const parseList = <T>(text: string, file: string, kind: ListKind<T>): T[] => {
  const syntax = parseYaml(text);
  const { document, findings } = syntax;
  if (!syntax.whole) throw refusal(kind, file, findings, syntax);
  if (document.contents === null) throw refusal(kind, file, [{ path: [], offset: 0, rule: 'must be a list' }], syntax);
  prepare(document, kind.jsonTextAt);
  const shape = createShape(z.toJSONSchema(kind.schema, { io: 'input' }));
  const tree = readTree(syntax, shape, (plain) => ({ text: plain, sources: [], problems: [] }));
  const { data, findings: explained } = checkTree(tree, { schema: kind.schema, shape, emptyRule: 'is empty' });
  // Leaves out what the schema has reported already.
  const known = new Set(explained.map(({ path }) => showPath(path)));
  const breaches = (Array.isArray(tree.value) ? kind.breachesOf(tree.value) : [])
    .filter(({ path }) => !known.has(showPath(path)))
    .map(({ path, rule }) => ({ path, rule, offset: tree.positions.ofValue(path) }));
  const all = [...findings, ...tree.findings, ...explained, ...breaches];
  if (data !== undefined && all.length === 0) return data;
  throw refusal(kind, file, all, syntax);
};

/** Reads the file that `--WHAT` names, or standard input for `-`, and checks it. Throws a `UsageError`. */
export const readList = async <T>(source: string, kind: ListKind<T>, context: Stdin): Promise<T[]> => {
  const text = await readInputText(`--${kind.what}`, source, context);
  return parseList(text, source === STANDARD_INPUT ? 'stdin' : source, kind);
};

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

/** The service's own shape, no field left out. */
export const ASSETS: ListKind<AssetInput> = {
  what: 'assets',
  schema: z
    .array(asset, { error: 'must be a list of assets' })
    .refine((list) => list.length > 0, { error: 'must name at least one' }),
  breachesOf: repeated,
  jsonTextAt: 'abi',
};
