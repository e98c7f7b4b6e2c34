/** The configuration of a world: config/demo.yaml at the pace of tests, changed where a scenario says so. */
import { readFile } from 'node:fs/promises';
import { parse, stringify } from 'yaml';

/** A part of the configuration, as it would stand in the file. */
export type Tree = { [key: string]: Tree | unknown };

/** Where a value comes from the environment. */
export const variable = (name: string): string => `\${${name}}`;

/** The sandbox's service as config/demo.yaml names it. */
export const SANDBOX = {
  name: 'sandbox',
  baseUrl: variable('TOCSIN_SANDBOX_SERVICE'),
  apiKey: variable('TOCSIN_SANDBOX_KEY'),
};

/** Faster than anybody would set it, so that a test need not wait; and no rates, but where a scenario is about them. */
const RATE = { perSecond: 1000, burst: 1000 };
const PACE: Tree = {
  // Every item is to be seen at both ends; what another covers is a scenario of its own.
  alerts: { correlate: false },
  poll: { interval: '200ms', sweepEvery: '1s', startFrom: '1h', catalogEvery: '1s' },
  channels: {
    email: { rateLimit: RATE, groupWait: '100ms' },
    telegram: { rateLimit: RATE },
    slack: { rateLimit: RATE },
    webhook: { groupWait: '100ms' },
  },
};

const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);

/** `null` takes a key out. */
export const merge = (base: Tree, changes: Tree): Tree =>
  Object.fromEntries(
    [...new Set([...Object.keys(base), ...Object.keys(changes)])].flatMap((key) => {
      const [before, change] = [base[key], changes[key]];
      if (change === null) return [];
      return [[key, isTree(before) && isTree(change) ? merge(before, change) : (change ?? before)]];
    }),
  );

const readDemo = async (): Promise<Tree> =>
  parse(await readFile(new URL('../../config/demo.yaml', import.meta.url), 'utf8')) as Tree;

const pick = (tree: unknown, keys: readonly string[]): Tree =>
  Object.fromEntries(Object.entries(isTree(tree) ? tree : {}).filter(([key]) => keys.includes(key)));

/** The text of the file, with the channels of these kinds only. */
export const configTextOf = async (kinds: readonly string[], ...changes: readonly Tree[]): Promise<string> => {
  const whole = [PACE, ...changes].reduce(merge, await readDemo());
  return stringify({ ...whole, channels: pick(whole.channels, kinds) });
};
