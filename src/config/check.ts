/** Values that were read, checked by their schema: each problem in words, at its place, with what stands there. */
import type { z } from 'zod';
import { type Explanation, explain, type Path, ruleOf, showKind, showValue } from './problems.ts';
import type { Shape } from './schema.ts';
import type { Finding } from './syntax.ts';
import type { Tree } from './tree.ts';

export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null && Object.hasOwn(at, key) ? Reflect.get(at, key) : undefined),
    value,
  );

const SCALARS = ['string', 'number', 'integer', 'boolean'];

/** Shows a value only where a scalar belongs, and only one that is no secret and comes from the file; a list or a map only where `isKind`. */
const gotAt = (tree: Tree, shape: Shape, path: Path, isKind: boolean): string | undefined => {
  const value = valueAt(tree.value, path);
  const sources = tree.sourcesAt(path);
  if (value === undefined || value === null) return undefined;
  if (sources.length > 0) return `the value of ${[...new Set(sources)].join(' and ')}`;
  const types = shape.typesAt(path);
  const scalarIsDue = types.length > 0 && types.every((type) => SCALARS.includes(type));
  if (!scalarIsDue) return typeof value === 'object' && !isKind ? undefined : showKind(value);
  return shape.isSecret(path) ? showKind(value) : showValue(value);
};

export const place = (tree: Tree, shape: Shape, explanation: Explanation): Finding => {
  const { path, rule, at, isKind = false, isUnknown } = explanation;
  if (at === 'key') return { path, rule, offset: tree.positions.ofKey(path), ...(isUnknown && { isUnknown }) };
  const got = gotAt(tree, shape, path, isKind);
  return { path, rule, offset: tree.positions.ofValue(path), ...(got !== undefined && { got }) };
};

interface Checks<T> {
  schema: z.ZodType<T>;
  shape: Shape;
  /** What to say of a key without a value. */
  emptyRule: string;
}

/** `data` is absent where there are findings of the schema; a value that could not be read has none. */
export const checkTree = <T>(
  tree: Tree,
  { schema, shape, emptyRule }: Checks<T>,
): { data?: T; findings: Finding[] } => {
  const ruleAt = ({ path, rule, at }: Explanation): string => {
    const value = at === 'value' ? valueAt(tree.value, path) : rule;
    if (value === undefined) return 'is required';
    return value === null ? emptyRule : rule;
  };
  const { data, error } = schema.safeParse(tree.value, { error: ruleOf });
  const findings = (error?.issues ?? [])
    .flatMap((issue) => {
      const path = issue.path.filter((key) => typeof key !== 'symbol');
      return explain(issue, {
        value: valueAt(tree.value, path),
        knownKeys: shape.keysAt(path),
        innerKeys: shape.keysBelow(path),
      });
    })
    .filter(({ path }) => !tree.isLost(path))
    .map((explanation) => place(tree, shape, { ...explanation, rule: ruleAt(explanation) }));
  return { findings, ...(data !== undefined && { data }) };
};
