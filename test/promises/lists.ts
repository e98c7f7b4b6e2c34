/**
 * What is promised by its name, a line each: metrics with their labels, fields of webhooks, keys of the config, commands with
 * their options and exit codes. `kept/` has the lines that were released; `npm version` adds those of the new release.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from 'commander';
import { isObject } from '../../src/alert.ts';
import { payloadJsonSchema } from '../../src/channels/webhook/schema.ts';
import { EXIT, escapingContext } from '../../src/cli/context.ts';
import { createProgram } from '../../src/cli/program.ts';
import { inputJsonSchema } from '../../src/config/schema.ts';
import { createMetrics } from '../../src/ops/metrics.ts';

type Schema = Record<string, unknown>;

const metricLines = (): string[] => {
  const all = createMetrics({ version: '0.0.0' }).registry.getMetricsAsArray();
  return (all as unknown as { name: string; type: string; labelNames: string[] }[])
    .filter(({ name }) => name.startsWith('tocsin_'))
    .flatMap(({ name, type, labelNames }) => [`${name} ${type}`, ...labelNames.map((label) => `${name}{${label}}`)]);
};

const listOf = (value: unknown): Schema[] => (Array.isArray(value) ? value.filter(isObject) : []);

/** The alternatives that a schema has, with references followed. */
const variantsOf = (schema: Schema, defs: Schema): Schema[] => {
  const [, name] = /^#\/\$defs\/(.+)$/.exec(String(schema.$ref)) ?? [];
  if (name !== undefined) return isObject(defs[name]) ? variantsOf(defs[name], defs) : [];
  const alternatives = [...listOf(schema.anyOf), ...listOf(schema.oneOf)];
  return alternatives.length === 0 ? [schema] : alternatives.flatMap((one) => variantsOf(one, defs));
};

interface Field {
  path: string;
  type: string;
  isRequired: boolean;
}

const fieldsOf = (schema: Schema, defs: Schema, at: readonly string[] = []): Field[] =>
  variantsOf(schema, defs).flatMap((variant) => {
    const named = Object.entries(isObject(variant.properties) ? variant.properties : {}).flatMap(([key, child]) => {
      if (!isObject(child)) return [];
      const path = [...at, key];
      const types = variantsOf(child, defs).map(({ type = 'any' }) => String(type));
      const isRequired = Array.isArray(variant.required) && variant.required.includes(key);
      const type = [...new Set(types)].toSorted().join('|');
      return [{ path: path.join('.'), type, isRequired }, ...fieldsOf(child, defs, path)];
    });
    const free = [variant.items, variant.additionalProperties].filter(isObject);
    return [...named, ...free.flatMap((child) => fieldsOf(child, defs, [...at, '*']))];
  });

/** `inspection.ok data.item.id string required`; those of Tocsin itself together. */
const webhookLines = (): string[] => {
  const schema = payloadJsonSchema() as Schema;
  const defs = isObject(schema.$defs) ? schema.$defs : {};
  return variantsOf(schema, defs).flatMap((variant) => {
    const { type = {} } = variant.properties as { type?: { const?: string; enum?: string[] } };
    const types = type.enum ?? [type.const ?? 'tocsin.*'];
    // What is in a batch is listed by itself.
    const fields = fieldsOf(variant, defs).filter(({ path }) => !path.startsWith('data.items.'));
    return types.flatMap((name) =>
      fields.map(({ path, type: kind, isRequired }) => `${name} ${path} ${kind}${isRequired ? ' required' : ''}`),
    );
  });
};

const configLines = (): string[] => {
  const schema = inputJsonSchema() as Schema;
  return fieldsOf(schema, isObject(schema.$defs) ? schema.$defs : {}).map(({ path }) => path);
};

const linesOfCommand = (command: Command, words: readonly string[]): string[] => {
  const name = words.join(' ') || 'tocsin';
  const options = command.options.map(({ long }) => `${name} ${long}`);
  return [name, ...options, ...command.commands.flatMap((child) => linesOfCommand(child, [...words, child.name()]))];
};

const commandLines = (): string[] => {
  const nothing = {
    env: {},
    signal: new AbortController().signal,
    onHangup: () => {},
    isTty: false,
    isErrorTty: false,
  };
  const silent = { write: () => {}, warn: () => {}, readStdin: async () => new Uint8Array() };
  const program = createProgram(escapingContext({ ...nothing, ...silent }), () => {});
  return [...linesOfCommand(program, []), ...Object.entries(EXIT).map(([name, code]) => `exit ${code} ${name}`)];
};

const unique = (lines: readonly string[]): string[] => [...new Set(lines)].toSorted();

/** Of this program, by the name of the list. */
export const presentLists = (): Readonly<Record<string, readonly string[]>> => ({
  commands: unique(commandLines()),
  config: unique(configLines()),
  metrics: unique(metricLines()),
  webhooks: unique(webhookLines()),
});

const fileOf = (name: string): string => join(import.meta.dirname, 'kept', `${name}.txt`);

export const keptList = async (name: string): Promise<string[]> =>
  (await readFile(fileOf(name), 'utf8').catch(() => '')).split('\n').filter(Boolean);

if (import.meta.main) {
  for (const [name, lines] of Object.entries(presentLists())) {
    await writeFile(fileOf(name), `${unique([...(await keptList(name)), ...lines]).join('\n')}\n`);
  }
}
