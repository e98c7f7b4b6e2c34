/** `tocsin schema`: what editors need to help with the configuration file, and receivers to know what comes. */
import { isObject } from '../alert.ts';
import { payloadJsonSchema } from '../channels/webhook/schema.ts';
import { inputJsonSchema } from '../config/schema.ts';
import { type Action, EXIT, writeJson } from './context.ts';

type Node = Record<string, unknown>;

/** A variable in place of the value; what comes out of it is checked when the file is read. */
const VARIABLE = { type: 'string', pattern: '\\$\\{' };

const SCALARS: readonly unknown[] = ['string', 'number', 'integer', 'boolean'];

/** Free text takes a variable as it is; every other scalar gets the variable as an alternative. */
const takesOnlyValues = ({ type, pattern, enum: choices }: Node): boolean =>
  SCALARS.includes(type) && (type !== 'string' || pattern !== undefined || choices !== undefined);

const mapValues = (node: Node, change: (value: unknown) => unknown): Node =>
  Object.fromEntries(Object.entries(node).map(([key, value]) => [key, change(value)]));

const allowVariables = (value: unknown): unknown => {
  if (!isObject(value)) return value;
  if (takesOnlyValues(value)) {
    const { description, default: fallback, writeOnly, ...rule } = value;
    const about = Object.entries({ description, default: fallback, writeOnly }).filter(
      ([, held]) => held !== undefined,
    );
    return { ...Object.fromEntries(about), anyOf: [rule, VARIABLE] };
  }
  return {
    ...value,
    ...(isObject(value.properties) ? { properties: mapValues(value.properties, allowVariables) } : {}),
    ...(Array.isArray(value.anyOf) ? { anyOf: value.anyOf.map(allowVariables) } : {}),
    ...(isObject(value.items) ? { items: allowVariables(value.items) } : {}),
    ...(isObject(value.additionalProperties)
      ? { additionalProperties: allowVariables(value.additionalProperties) }
      : {}),
  };
};

/** JSON Schema (draft 2020-12) of the configuration file as it is written, with its variables. */
export const configJsonSchema = (): Record<string, unknown> => {
  const schema = allowVariables(inputJsonSchema());
  return { ...(isObject(schema) ? schema : {}), title: 'Tocsin configuration' };
};

/** The command: prints the schema, to be saved where an editor or a receiver's developer looks for it. */
export const schema: Action<{ webhook?: boolean }> = async ({ webhook = false }, context) => {
  writeJson(context, webhook ? payloadJsonSchema() : configJsonSchema());
  return EXIT.done;
};
