/** Values in the place of secrets that a command does not need: for those that only read and change what Redis has. */
import type { Path } from './display.ts';

/** One of them fits wherever a variable or a file stands for a whole value. */
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

const at = (root: unknown, path: Path): unknown =>
  path.reduce<unknown>((value, key) => (isValues(value) && Object.hasOwn(value, key) ? value[key] : undefined), root);

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
 * Puts a value that fits into each of these places of `root`, or takes out the smallest part that can be without it.
 * `isRight` says whether the part at a path is right. Gives the places that stay open.
 */
export const fillIn = (root: unknown, lost: readonly Path[], isRight: (path: Path) => boolean): Path[] => {
  const put = (path: Path, value: unknown): boolean => {
    const values = at(root, path.slice(0, -1));
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
    const values = at(root, path.slice(0, -1));
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
