/** What is otherwise in another configuration, by key and never by value. */
import { isDeepStrictEqual } from 'node:util';
import type { Secret } from '../secret.ts';
import type { Path } from './display.ts';
import type { Config } from './schema.ts';
import { shape } from './schema-shape.ts';

type Tree = Readonly<Record<string, unknown>>;

const isSecret = (value: object): value is Secret => 'reveal' in value && typeof value.reveal === 'function';

const isTree = (value: unknown): value is Tree =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isSecret(value);

/** Services are known by their names, so that one that is added in the middle is one change. */
const byName = (services: Config['services']): Tree =>
  Object.fromEntries(services.map(({ name, ...service }) => [name, service]));

/** With the values of secrets, to be compared. */
const revealed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(revealed);
  if (typeof value !== 'object' || value === null) return value;
  if (isSecret(value)) return { secret: value.reveal() };
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, revealed(each)]));
};

const differing = (before: unknown, after: unknown, path: Path): Path[] => {
  if (!isTree(before) || !isTree(after)) return isDeepStrictEqual(revealed(before), revealed(after)) ? [] : [path];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) => differing(before[key], after[key], [...path, key]));
};

/** In the schema a service stands in a list. */
const inSchema = (path: Path): Path => (path[0] === 'services' ? path.map((key, at) => (at === 1 ? 0 : key)) : path);

/** As the operator wrote it: what the program makes of a text has no keys of its own in the file. */
const written = (path: Path): Path => {
  const end = path.findIndex((_, at) => {
    const types = shape.typesAt(inSchema(path.slice(0, at + 1)));
    return !types.includes('object') && !types.includes('array');
  });
  return end < 0 ? path : path.slice(0, end + 1);
};

/** A section or entry that is new or gone is one change; a list is compared as a whole. */
export const changesOf = (before: Config, after: Config): Path[] => {
  const [one, other] = [before, after].map((config) => ({ ...config, services: byName(config.services) }));
  const paths = differing(one, other, []).map(written);
  return [...new Map(paths.map((path) => [JSON.stringify(path), path])).values()];
};

/** What is opened once, when the process starts. */
const RESTART_ONLY: readonly Path[] = [['redis'], ['dataDir'], ['ops', 'listen']];

export const needsRestart = (path: Path): boolean =>
  RESTART_ONLY.some((only) => only.every((key, index) => path[index] === key));
