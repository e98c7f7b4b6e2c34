/** Values for keys that the file leaves out or that are missing: from variables, or in the place of secrets. */
import { isObject } from '../alert.ts';
import { valueAt } from './check.ts';
import type { Path } from './problems.ts';
import type { Tree } from './tree.ts';
import type { Environment, Interpolate } from './variables.ts';

/** A variable that stands for a key. The image and docker-compose.yml set some, so that a small config fits a container. */
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
  { variable: 'TOCSIN_OPS_PROBES', path: ['ops', 'probes'] },
];

type Section = Record<string, unknown>;

const same = (a: Path, b: Path): boolean => a.join('.') === b.join('.');

/** The map that the key belongs into; nothing where the file has the key, another one instead, or no map there. */
const placeFor = (root: Section, { path, instead = [] }: EnvironmentDefault): Section | undefined => {
  const [section, key] = path;
  if (key === undefined) return Object.hasOwn(root, section) ? undefined : root;
  if (!Object.hasOwn(root, section)) root[section] = Object.create(null);
  const values = root[section];
  return isObject(values) && ![key, ...instead].some((each) => Object.hasOwn(values, each)) ? values : undefined;
};

/** Puts them into the tree's value; a key of the file wins. As in the file, references in them are replaced: a password may stay in a file. */
export const applyEnvironmentDefaults = (tree: Tree, environment: Environment, interpolate: Interpolate): Tree => {
  const root = tree.value;
  if (!isObject(root)) return tree;
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
    ...tree,
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

/** Wherever a variable or a file stands for a whole value, one of these fits. */
const STAND_INS: readonly unknown[] = [
  'not-set',
  '0:not-set',
  `whsec_${Buffer.alloc(32).toString('base64')}`,
  'https://not-set.invalid',
  'not-set@not-set.invalid',
  'not-set.invalid:1',
  '1m',
  1,
  false,
];

type Values = Record<string | number, unknown>;

const isValues = (value: unknown): value is Values => typeof value === 'object' && value !== null;

/** Commands have to find the Redis itself. */
const isNeeded = ([section]: Path): boolean => section === 'redis' || section === 'dataDir';

/** The lost entries of one list go together: where several forms are allowed, the list is judged as a whole. */
const togetherIn = (lost: readonly Path[]): Path[][] => {
  const groups = Map.groupBy(lost, (path) =>
    JSON.stringify(typeof path.at(-1) === 'number' ? path.slice(0, -1) : path),
  );
  return [...groups.values()];
};

/**
 * For commands that only read and change what Redis has, and do without the secrets: puts a value that fits into each of
 * these places of `root`, or takes out the smallest part that can be without it.
 * `isRight` says whether the part at a path is right. Gives the places that stay open.
 */
export const fillIn = (root: unknown, lost: readonly Path[], isRight: (path: Path) => boolean): Path[] => {
  const put = (path: Path, value: unknown): boolean => {
    const values = valueAt(root, path.slice(0, -1));
    const key = path.at(-1);
    if (key === undefined || !isValues(values)) return false;
    values[key] = value;
    return true;
  };
  const fits = (paths: readonly Path[]): boolean =>
    STAND_INS.some((standIn) => paths.every((path) => put(path, standIn)) && paths.every(isRight));
  const takeOut = (path: Path): boolean => {
    const key = path.at(-1);
    if (key === undefined) return false;
    const values = valueAt(root, path.slice(0, -1));
    if (isValues(values)) {
      if (Array.isArray(values)) values.splice(Number(key), 1);
      else delete values[key];
    }
    return isRight(path.slice(0, -1)) || takeOut(path.slice(0, -1));
  };
  const open = lost.filter((path) => !isNeeded(path));
  const odd = togetherIn(open).filter((paths) => !fits(paths));
  // From the last to the first: what is taken out of a list moves what follows it.
  const left = odd
    .flat()
    .toReversed()
    .filter((path) => !takeOut(path));
  return [...lost.filter(isNeeded), ...left];
};
