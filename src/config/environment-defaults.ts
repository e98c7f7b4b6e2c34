/**
 * What variables give for keys that the file leaves out. The image and docker-compose.yml set them, so that a small
 * config fits a container. A key of the file wins.
 */
import type { Path } from './display.ts';
import type { Environment, Interpolate } from './interpolate.ts';
import type { Tree } from './tree.ts';

interface EnvironmentDefault {
  variable: string;
  path: readonly [string] | readonly [string, string];
  /** Keys beside it that mean something else instead. */
  instead?: readonly string[];
}

const DEFAULTS: readonly EnvironmentDefault[] = [
  { variable: 'TOCSIN_REDIS_URL', path: ['redis', 'url'], instead: ['sentinel', 'cluster'] },
  { variable: 'TOCSIN_DATA_DIR', path: ['dataDir'] },
  { variable: 'TOCSIN_OPS_LISTEN', path: ['ops', 'listen'] },
];

type Values = Record<string, unknown>;

const isValues = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const same = (a: Path, b: Path): boolean => a.join('.') === b.join('.');

/** The map that the key belongs into; nothing where the file has the key, another one instead, or no map there. */
const placeFor = (root: Values, { path, instead = [] }: EnvironmentDefault): Values | undefined => {
  const [section, key] = path;
  if (key === undefined) return Object.hasOwn(root, section) ? undefined : root;
  if (!Object.hasOwn(root, section)) root[section] = Object.create(null);
  const values = root[section];
  return isValues(values) && ![key, ...instead].some((each) => Object.hasOwn(values, each)) ? values : undefined;
};

/** Puts them into the tree's value. As in the file, references in them are replaced: a password may stay in a file. */
export const applyEnvironmentDefaults = (tree: Tree, environment: Environment, interpolate: Interpolate): Tree => {
  const root = tree.value;
  if (!isValues(root)) return tree;
  const findings = [...tree.findings];
  const given: EnvironmentDefault[] = [];
  const lost: Path[] = [];
  for (const each of DEFAULTS) {
    const { variable, path } = each;
    const text = Object.hasOwn(environment, variable) ? (environment[variable] ?? '') : '';
    const values = text === '' ? undefined : placeFor(root, each);
    if (values === undefined) continue;
    const { text: value, problems } = interpolate(text);
    for (const rule of problems) {
      findings.push({ path, offset: tree.positions.ofValue(path), rule: `comes from ${variable}, which ${rule}` });
    }
    given.push(each);
    if (problems.length > 0) lost.push(path);
    else values[path.at(-1) ?? ''] = value;
  }
  return {
    value: root,
    positions: tree.positions,
    findings,
    missing: [...tree.missing, ...lost],
    sourcesAt: (path) => {
      const found = given.find((each) => same(each.path, path));
      return found === undefined ? tree.sourcesAt(path) : [found.variable];
    },
    isLost: (path) => lost.some((each) => same(each, path)) || tree.isLost(path),
  };
};

/** The variable that gave the value of a key that the file leaves out; another one may stand in the file itself. */
export const variableOf = (tree: Pick<Tree, 'sourcesAt'>, path: Path): string | undefined =>
  DEFAULTS.find((each) => same(each.path, path) && tree.sourcesAt(path).includes(each.variable))?.variable;
