/** docs/configuration.md: every key with its type, default and meaning, from the schema; examples from the example config. */
import { parse } from 'yaml';
import { inputJsonSchema } from '../../src/config/schema.ts';
import { cell, code, MADE } from './markdown.ts';

interface Schema {
  description?: string;
  default?: unknown;
  type?: string | string[];
  enum?: string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  writeOnly?: boolean;
  required?: string[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | false;
  items?: Schema;
  anyOf?: Schema[];
}

interface Key {
  path: string[];
  schema: Schema;
  isRequired: boolean;
  /** Of the key itself, or by the default of the map that holds it. */
  fallback: unknown;
}

const ELEMENT = '[]';
const FREE = 'NAME';

/** What stands under a key: of a list, or of a map with free keys, in any of its elements. */
const valuesAt = (value: unknown, key: string): unknown[] => {
  if (typeof value !== 'object' || value === null) return [];
  if (key === ELEMENT || key === FREE) return Object.values(value);
  return Object.entries(value).flatMap(([name, held]) => (name === key ? [held] : []));
};

/** The key itself and everything below it, in the order of the schema. */
const keysBelow = (schema: Schema, path: string[], fallback: unknown): Key[] => {
  const own = Object.entries(schema.properties ?? {}).flatMap(([name, child]) => {
    const key = {
      path: [...path, name],
      schema: child,
      isRequired: schema.required?.includes(name) ?? false,
      fallback: child.default ?? valuesAt(fallback, name)[0],
    };
    return [key, ...keysBelow(child, key.path, key.fallback)];
  });
  const { items, additionalProperties } = schema;
  const elements = items === undefined ? [] : keysBelow(items, [...path, ELEMENT], undefined);
  const free = additionalProperties ? keysBelow(additionalProperties, [...path, FREE], undefined) : [];
  return [...own, ...elements, ...free];
};

const DURATION = String.raw`\d{1,12})(ms|s|m|h|d)`;

const rangeOf = ({ minimum, maximum }: Schema): string =>
  minimum === undefined || maximum === undefined ? '' : `, ${minimum} to ${maximum}`;

const textType = ({ pattern = '', writeOnly = false, enum: choices, description = '' }: Schema): string => {
  if (choices !== undefined) return choices.map(code).join(', ');
  if (pattern.startsWith('^(auto|')) return '`auto` or duration';
  if (pattern.includes(DURATION)) return 'duration';
  if (pattern.startsWith('^[Hh][Tt][Tt][Pp]')) return writeOnly ? 'URL, secret' : 'URL';
  if (description.includes(' in PEM')) return 'PEM';
  return writeOnly ? 'secret' : 'text';
};

const typeOf = (schema: Schema): string => {
  const { type, items, anyOf } = schema;
  if (anyOf !== undefined) return [...new Set(anyOf.map(typeOf))].join(' or ');
  if (type === 'array') return `list of ${typeOf(items ?? {})}`;
  if (type === 'object') return 'map';
  if (type === 'integer') return `whole number${rangeOf(schema)}`;
  if (type === 'number') return `number${rangeOf(schema)}`;
  if (type === 'boolean') return '`true` or `false`';
  return textType(schema);
};

const asYaml = (value: unknown): string => {
  if (typeof value === 'string') return value;
  return JSON.stringify(value).replaceAll('","', '", "').replaceAll('":', '": ');
};

/** Its own rows say what it holds. */
const isHolder = (key: Key): boolean => keysBelow(key.schema, key.path, key.fallback).length > 0;

const defaultOf = (key: Key): string => {
  if (key.isRequired) return '**required**';
  return key.fallback === undefined || isHolder(key) ? '' : code(asYaml(key.fallback));
};

/** What the example config says there, unless that is the default. */
const exampleOf = (key: Key, example: unknown): string => {
  const [value] = key.path.reduce<unknown[]>((values, name) => values.flatMap((one) => valuesAt(one, name)), [example]);
  if (value === undefined || value === null || isHolder(key) || asYaml(value) === asYaml(key.fallback ?? null))
    return '';
  return ` Example: ${code(asYaml(value))}.`;
};

const linked = (text: string): string => text.replaceAll(/docs\/([\w-]+\.md)/g, '[$1]($1)');

/** `channels[].name`: an element of a list belongs to the list's key. */
const nameOf = (path: readonly string[]): string => path.join('.').replaceAll(`.${ELEMENT}`, ELEMENT);

const rowOf = (key: Key, depth: number, example: unknown): string => {
  const meaning = `${linked(cell(key.schema.description ?? ''))}${cell(exampleOf(key, example))}`;
  const name = nameOf(key.path.slice(depth));
  return `| ${code(name)} | ${typeOf(key.schema)} | ${defaultOf(key)} | ${meaning} |`;
};

const table = (keys: readonly Key[], depth: number, example: unknown): string[] => [
  '| key | type | default | meaning |',
  '|---|---|---|---|',
  ...keys.map((key) => rowOf(key, depth, example)),
];

const sectionOf = (key: Key, example: unknown): string[] => {
  const below = keysBelow(key.schema, key.path, key.fallback);
  const needed = key.isRequired ? ' Required.' : '';
  const stated = below.length > 0 ? needed : ` Default: ${code(asYaml(key.fallback))}.`;
  const list = key.schema.items === undefined ? '' : ' A list; each element has these keys.';
  const text = [`## ${nameOf(key.path)}`, '', `${linked(key.schema.description ?? '')}${stated}${list}`, ''];
  if (key.path[0] === 'channels' && key.path.length === 1) return text;
  const start = key.path.length + (key.schema.items === undefined ? 0 : 1);
  return below.length === 0 ? text : [...text, ...table(below, start, example), ''];
};

const HEAD = `# Configuration

${MADE}

Tocsin reads one YAML file: \`--config FILE\`, else \`$TOCSIN_CONFIG\`, else \`config/tocsin.yaml\`. \`tocsin init\` writes a
small one, and [config/tocsin.example.yaml](../config/tocsin.example.yaml) is one to read on the first day.
[every-key.yaml](every-key.yaml) has every key to copy from, with the same explanations. \`tocsin check\` names every mistake
with its line, and \`tocsin schema\` prints a JSON Schema for editors.

- A **duration** is a whole number and a unit: \`500ms\`, \`15s\`, \`10m\`, \`24h\`, \`7d\`.
- Tocsin shows a **secret** nowhere: not in logs, metrics, errors or pages.
- \`\${NAME}\` is the value of an environment variable, or of a line \`NAME=value\` in the file of variables beside the
  config (\`tocsin.env\` beside \`tocsin.yaml\`). \`\${NAME:-text}\` has a default. \`\${file:/run/secrets/x}\` is the content of a
  file. \`$$\` is a plain \`$\`.
- A key without a default may be left out; its meaning says what that does.
- \`[]\` in a key stands for each element of a list, \`NAME\` for a name that you choose.
- A running daemon applies a changed config by itself; [reload.md](reload.md) says what needs a restart.
`;

/** `exampleText`: docs/every-key.yaml. Keys that are off there are switched on. */
export const configurationReference = (exampleText: string): string => {
  const example: unknown = parse(exampleText.replace(/^( *)#(?=\S| {2})/gm, '$1'));
  const schema = inputJsonSchema() as Schema;
  const top = keysBelow({ ...schema, properties: schema.properties ?? {} }, [], {});
  const isSection = ({ path }: Key): boolean => path.length === 1 || (path[0] === 'channels' && path.length === 2);
  const sections = top.filter(isSection);
  return `${[HEAD, ...sections.flatMap((key) => sectionOf(key, example))].join('\n').trimEnd()}\n`;
};
