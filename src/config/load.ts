/** The configuration file and the environment, read into a `Config`, or every problem at once. */
import { dirname } from 'node:path';
import { readProxyVariables } from '../connection/proxy-variables.ts';
import { ConfigError, type ConfigProblem } from '../errors.ts';
import { type Path, showKind, showValue } from './display.ts';
import { type Variables, withEnvFile } from './env-file.ts';
import { applyEnvironmentDefaults, variableOf } from './environment-defaults.ts';
import { type Explanation, explain, ruleOf } from './explain.ts';
import { type Finding, toProblems } from './findings.ts';
import { createInterpolate, type Environment } from './interpolate.ts';
import { NO_SUCH_FILE, readText } from './read.ts';
import { breachesOf } from './rules.ts';
import { type Config, configSchema, inputJsonSchema } from './schema.ts';
import { createShape } from './shape.ts';
import { parseYaml } from './syntax.ts';
import { readTree, type Tree } from './tree.ts';

const LARGEST_FILE_BYTES = 1_048_576;

/** Of a variable; its value may hold a password. */
const NO_PROXY = 'must be the http or https URL of a proxy, like http://user:password@proxy.example.com:3128';

/** For whoever starts Tocsin for the first time, or in another directory. */
const NEXT_STEP =
  '. Make it: tocsin init asks for what is needed; config/tocsin.example.yaml has every key. Or name another with --config';

const shape = createShape(inputJsonSchema());

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

const place = (tree: Tree, { path, rule, at, isKind = false }: Explanation): Finding => {
  const got = at === 'key' ? undefined : gotAt(tree, path, isKind);
  const offset = at === 'key' ? tree.positions.ofKey(path) : tree.positions.ofValue(path);
  return { path, offset, rule, ...(got === undefined ? {} : { got }) };
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

const readFile = (file: string): string => {
  const read = readText(file, LARGEST_FILE_BYTES);
  if (read.ok) return read.text;
  const next = read.why === NO_SUCH_FILE ? NEXT_STEP : '';
  return fail([{ file, path: 'config', rule: `cannot be read: ${read.why}${next}` }]);
};

export interface LoadedConfig {
  config: Config;
  /** The variable that gave the value of a key that the file leaves out. */
  variableOf(path: Path): string | undefined;
}

const parseLoaded = (text: string, file: string, { environment, hint }: Variables): LoadedConfig => {
  const syntax = parseYaml(text);
  const { findings, placeOf } = syntax;
  if (!syntax.whole) return fail(toProblems(file, findings, placeOf));
  if (syntax.document.contents === null) {
    return fail([{ file, path: 'config', rule: 'is empty: at least services and channels are needed' }]);
  }
  const interpolate = createInterpolate(environment, dirname(file), hint);
  const tree = applyEnvironmentDefaults(readTree({ syntax, shape, interpolate }), environment, interpolate);
  const { config, findings: found } = check(tree);
  const all = toProblems(file, [...findings, ...tree.findings, ...found], placeOf);
  const proxyVariables = readProxyVariables(environment, (variable) =>
    all.push({ file, path: variable, rule: NO_PROXY }),
  );
  if (all.length > 0 || config === undefined) return fail(all);
  return {
    config: { ...config, ...(proxyVariables && { proxyVariables }) },
    variableOf: (path) => variableOf(tree, path),
  };
};

/** The same for a text that is already there; `file` is its name in problems, and where relative secret files start. */
export const parseConfig = (text: string, file: string, environment: Environment): Config =>
  parseLoaded(text, file, { environment, hint: '' }).config;

/** The same with where values come from. */
export const loadWithVariables = async (file: string, environment: Environment): Promise<LoadedConfig> =>
  parseLoaded(readFile(file), file, withEnvFile(file, environment));

/** Reads `file` (YAML 1.2, UTF-8, at most 1 MiB) with the variables of `environment` and of the file beside it. Throws a `ConfigError` with every problem found. */
export const loadConfig = async (file: string, environment: Environment): Promise<Config> =>
  (await loadWithVariables(file, environment)).config;
