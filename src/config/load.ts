/** The configuration file and the environment, read into a `Config`, or every problem at once. */
import { dirname } from 'node:path';
import { readProxyVariables } from '../connection/proxy-variables.ts';
import { ConfigError, type ConfigProblem } from '../errors.ts';
import { placeDataDir } from './data-dir.ts';
import { type Path, showKind, showValue } from './display.ts';
import { type Variables, withEnvFile } from './env-file.ts';
import { applyEnvironmentDefaults, variableOf } from './environment-defaults.ts';
import { type Explanation, explain, ruleOf } from './explain.ts';
import { type Finding, toProblems } from './findings.ts';
import { createInterpolate, type Environment, type OnFile } from './interpolate.ts';
import { NO_SUCH_FILE, readText } from './read.ts';
import { breachesOf } from './rules.ts';
import { type Config, configSchema } from './schema.ts';
import { shape } from './schema-shape.ts';
import { fillIn } from './stand-ins.ts';
import { parseYaml } from './syntax.ts';
import { readTree, type Tree } from './tree.ts';

const LARGEST_FILE_BYTES = 1_048_576;

/** Of a variable; its value may hold a password. */
const NO_PROXY = 'must be the http or https URL of a proxy, like http://user:password@proxy.example.com:3128';

/** For whoever starts Tocsin for the first time, or in another directory. */
const NEXT_STEP =
  '. Make it: tocsin init asks for what is needed; config/tocsin.example.yaml has every key. Or name another with --config';

const fail = (problems: readonly ConfigProblem[]): never => {
  throw new ConfigError(problems);
};

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, key)
        ? (at as Record<string | number, unknown>)[key]
        : undefined,
    value,
  );

const quoted = (names: readonly string[]): string => `the value of ${[...new Set(names)].join(' and ')}`;

const SCALARS = ['string', 'number', 'integer', 'boolean'];

/** Shows a value only where a scalar belongs, and only one that is no secret and comes from the file; a list or a map only where `isKind`. */
const gotAt = (tree: Tree, path: Path, isKind: boolean): string | undefined => {
  const value = valueAt(tree.value, path);
  const sources = tree.sourcesAt(path);
  if (value === undefined || value === null) return undefined;
  if (sources.length > 0) return quoted(sources);
  const types = shape.typesAt(path);
  const scalarIsDue = types.length > 0 && types.every((type) => SCALARS.includes(type));
  if (!scalarIsDue) return typeof value === 'object' && !isKind ? undefined : showKind(value);
  return shape.isSecret(path) ? showKind(value) : showValue(value);
};

const place = (tree: Tree, { path, rule, at, isKind = false, isUnknown }: Explanation): Finding => {
  const got = at === 'key' ? undefined : gotAt(tree, path, isKind);
  const offset = at === 'key' ? tree.positions.ofKey(path) : tree.positions.ofValue(path);
  return { path, offset, rule, ...(got === undefined ? {} : { got }), ...(isUnknown && { isUnknown }) };
};

const explained = (tree: Tree, explanation: Explanation): Finding => {
  const { path, at } = explanation;
  const value = valueAt(tree.value, path);
  if (at === 'value' && value === undefined) return { path, offset: tree.positions.ofValue(path), rule: 'is required' };
  const empty = at === 'value' && value === null;
  return place(tree, empty ? { path, rule: 'is empty: give it a value or leave it out', at } : explanation);
};

const check = (tree: Tree): { config?: Config; findings: Finding[] } => {
  const result = configSchema.safeParse(tree.value, { error: ruleOf });
  const explanations = (result.error?.issues ?? []).flatMap((issue) => {
    const path = issue.path.filter((key) => typeof key !== 'symbol');
    return explain(issue, { value: valueAt(tree.value, path), knownKeys: shape.keysAt(path) });
  });
  const findings = [
    ...explanations.map((explanation) => explained(tree, explanation)),
    ...breachesOf(tree.value).map((breach) => place(tree, { ...breach, at: 'value' })),
  ].filter(({ path }) => !tree.isLost(path));
  return result.success ? { config: result.data, findings } : { findings };
};

interface Reading {
  /** What is missing is done without, where it can be. */
  isLenient?: boolean;
  onFile?: OnFile;
}

const readFile = (file: string, { onFile = () => {} }: Reading): string => {
  const read = readText(file, LARGEST_FILE_BYTES);
  onFile(file, read, LARGEST_FILE_BYTES);
  if (read.ok) return read.text;
  const next = read.why === NO_SUCH_FILE ? NEXT_STEP : '';
  return fail([{ file, path: 'config', rule: `cannot be read: ${read.why}${next}` }]);
};

export interface LoadedConfig {
  config: Config;
  /** The variable that gave the value of a key that the file leaves out. */
  variableOf(path: Path): string | undefined;
  /** What was missing and not needed. */
  missing: readonly ConfigProblem[];
}

const startsWith = (path: Path, start: Path): boolean => start.every((key, index) => path[index] === key);

/** Whether the schema has nothing to say of a part of the file. */
const isRightAt = (value: unknown, part: Path): boolean => {
  const issues = configSchema.safeParse(value).error?.issues ?? [];
  return !issues.some(({ path }) => {
    const keys = path.filter((key) => typeof key !== 'symbol');
    return startsWith(keys, part) || startsWith(part, keys);
  });
};

/** Fills in what is missing; gives the findings that this makes needless. */
const doWithout = (tree: Tree): Finding[] => {
  const open = fillIn(tree.value, tree.missing, (part) => isRightAt(tree.value, part));
  const filled = tree.missing.filter((path) => !open.includes(path)).map((path) => path.join('.'));
  return tree.findings.filter(({ path }) => filled.includes(path.join('.')));
};

const parseLoaded = (
  text: string,
  file: string,
  { environment, hint }: Variables,
  { isLenient = false, onFile = () => {} }: Reading = {},
): LoadedConfig => {
  const syntax = parseYaml(text);
  const { findings, placeOf } = syntax;
  if (!syntax.whole) return fail(toProblems(file, findings, placeOf));
  if (syntax.document.contents === null) {
    return fail([{ file, path: 'config', rule: 'is empty: at least services and channels are needed' }]);
  }
  const interpolate = createInterpolate(environment, dirname(file), { hint, onFile });
  const tree = applyEnvironmentDefaults(readTree({ syntax, shape, interpolate }), environment, interpolate);
  const needless = isLenient && tree.missing.length > 0 ? doWithout(tree) : [];
  const { config, findings: found } = check(tree);
  const needed = tree.findings.filter((finding) => !needless.includes(finding));
  const all = toProblems(file, [...findings, ...needed, ...found], placeOf);
  const proxyVariables = readProxyVariables(environment, (variable) =>
    all.push({ file, path: variable, rule: NO_PROXY }),
  );
  if (all.length > 0 || config === undefined) return fail(all);
  return {
    config: { ...config, ...(proxyVariables && { proxyVariables }) },
    variableOf: (path) => variableOf(tree, path),
    missing: toProblems(file, needless, placeOf),
  };
};

/** The same for a text that is already there; `file` is its name in problems, and where relative secret files start. */
export const parseConfig = (text: string, file: string, environment: Environment): Config =>
  parseLoaded(text, file, { environment, hint: '' }).config;

/** Whatever reads the file itself goes this way: with the variables beside it, and with the place of the data. */
const loadFile = (file: string, environment: Environment, reading: Reading = {}): LoadedConfig => {
  const text = readFile(file, reading);
  const loaded = parseLoaded(text, file, withEnvFile(file, environment, reading.onFile), reading);
  const { config } = loaded;
  return { ...loaded, config: { ...config, dataDir: placeDataDir(file, config.dataDir) } };
};

/** The same with where values come from. */
export const loadWithVariables = async (file: string, environment: Environment): Promise<LoadedConfig> =>
  loadFile(file, environment);

/** The same, and tells every file that it reads, right or wrong. */
export const loadNoting = (file: string, environment: Environment, onFile: OnFile): Config =>
  loadFile(file, environment, { onFile }).config;

/** Reads `file` (YAML 1.2, UTF-8, at most 1 MiB) with the variables of `environment` and of the file beside it. Throws a `ConfigError` with every problem found. */
export const loadConfig = async (file: string, environment: Environment): Promise<Config> =>
  loadFile(file, environment).config;

/**
 * The same for commands that only read and change what Redis has: secrets that are not there are not needed. What else
 * is missing is told.
 */
export const loadWithoutSecrets = async (
  file: string,
  environment: Environment,
): Promise<Pick<LoadedConfig, 'config' | 'missing'>> => loadFile(file, environment, { isLenient: true });
