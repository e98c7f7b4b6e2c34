/** The configuration file and the environment, read into a `Config`, or every problem at once. */
import { dirname, isAbsolute, resolve } from 'node:path';
import { readProxyVariables } from '../connection/proxy-variables.ts';
import { ConfigError, type ConfigProblem } from '../errors.ts';
import { PROXY_RULE } from '../schema/connection.ts';
import { checkTree, place } from './check.ts';
import type { Breach, Path } from './problems.ts';
import { breachesOf } from './rules.ts';
import { type Config, configSchema, shape } from './schema.ts';
import { applyEnvironmentDefaults, fillIn, variableOf } from './stand-ins.ts';
import { type Finding, parseYaml, toProblems } from './syntax.ts';
import { readTree, type Tree } from './tree.ts';
import {
  createInterpolate,
  type Environment,
  LARGEST_CONFIG_BYTES,
  NO_SUCH_FILE,
  type OnFile,
  readText,
  type Variables,
  withEnvFile,
} from './variables.ts';

/** For somebody who starts Tocsin for the first time, or in another directory. */
const NEXT_STEP =
  '. Make it: tocsin init asks for what is needed, and config/tocsin.example.yaml is one to copy. Or name another with --config';

const fail = (problems: readonly ConfigProblem[]): never => {
  throw new ConfigError(problems);
};

const placed = (tree: Tree, breaches: readonly Breach[]): Finding[] =>
  breaches.map((breach) => place(tree, shape, { ...breach, at: 'value' }));

const check = (tree: Tree): { config?: Config; findings: Finding[] } => {
  const emptyRule = 'is empty: give it a value or leave it out';
  const { data, findings } = checkTree(tree, { schema: configSchema, shape, emptyRule });
  const breaches = breachesOf(tree.value).filter(({ path }) => !tree.isLost(path));
  return { findings: [...findings, ...placed(tree, breaches)], ...(data !== undefined && { config: data }) };
};

interface Reading {
  /** What is missing is done without, where it can be. */
  isLenient?: boolean;
  /** Gets every file that is read, right or wrong. */
  onFile?: OnFile;
}

const readFile = (file: string, { onFile = () => {} }: Reading): string => {
  const read = readText(file, LARGEST_CONFIG_BYTES);
  onFile(file, read, LARGEST_CONFIG_BYTES);
  if (read.ok) return read.text;
  const where = isAbsolute(file) ? '' : ` in ${process.cwd()}`;
  const next = read.why === NO_SUCH_FILE ? `${where}${NEXT_STEP}` : '';
  return fail([{ file, path: 'config', rule: `cannot be read: ${read.why}${next}` }]);
};

export interface LoadedConfig {
  config: Config;
  /** The variable that gave the value of a key that the file leaves out. */
  variableOf(path: Path): string | undefined;
  /** What was missing and not needed. */
  missing: readonly ConfigProblem[];
  /** What somebody else finds wrong with its values, with their place. */
  problemsOf(breaches: readonly Breach[]): ConfigProblem[];
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
  const tree = applyEnvironmentDefaults(readTree(syntax, shape, interpolate), environment, interpolate);
  const needless = isLenient && tree.missing.length > 0 ? doWithout(tree) : [];
  const { config, findings: found } = check(tree);
  const needed = tree.findings.filter((finding) => !needless.includes(finding));
  const all = toProblems(file, [...findings, ...needed, ...found], placeOf);
  // The value of a variable may hold a password.
  const proxyVariables = readProxyVariables(environment, (variable) =>
    all.push({ file, path: variable, rule: PROXY_RULE }),
  );
  if (all.length > 0 || config === undefined) return fail(all);
  return {
    config: { ...config, ...(proxyVariables && { proxyVariables }) },
    variableOf: (path) => variableOf(tree, path),
    missing: toProblems(file, needless, placeOf),
    problemsOf: (breaches) => toProblems(file, placed(tree, breaches), placeOf),
  };
};

/** The same for a text that is already there; `file` is its name in problems, and where relative secret files start. */
export const parseConfig = (text: string, file: string, environment: Environment): Config =>
  parseLoaded(text, file, { environment, hint: '' }).config;

/**
 * Reads `file` (YAML 1.2, UTF-8, at most 1 MiB) with the variables of `environment` and of the file beside it. A relative
 * `dataDir` is beside it, too, wherever a command is started. Throws a `ConfigError` with every problem found.
 */
export const loadFile = (file: string, environment: Environment, reading: Reading = {}): LoadedConfig => {
  const text = readFile(file, reading);
  const loaded = parseLoaded(text, file, withEnvFile(file, environment, reading.onFile), reading);
  const { config } = loaded;
  return { ...loaded, config: { ...config, dataDir: resolve(dirname(file), config.dataDir) } };
};

export const loadConfig = async (file: string, environment: Environment): Promise<Config> =>
  loadFile(file, environment).config;

/** For commands that only read and change what Redis has: they need no secrets. `missing` names what else is missing. */
export const loadWithoutSecrets = async (file: string, environment: Environment): Promise<LoadedConfig> =>
  loadFile(file, environment, { isLenient: true });
