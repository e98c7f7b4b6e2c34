/** What the schema says of a path: types, secrecy, known keys. Asked by the reader before there is a valid config. */
import type { JsonValue } from '../alert.ts';
import type { Path } from './display.ts';

interface Node {
  [keyword: string]: JsonValue | undefined;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && !Array.isArray(value);

const child = (node: Node, key: string | number): Node[] => {
  if (typeof key === 'number') return isNode(node.items) ? [node.items] : [];
  const named = isNode(node.properties) && Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;
  const found = named ?? node.additionalProperties;
  return isNode(found) ? [found] : [];
};

const alternatives = (node: Node): Node[] => {
  const list = [node.anyOf, node.oneOf, node.allOf].filter(Array.isArray).flat().filter(isNode);
  return [node, ...list.flatMap(alternatives)];
};

export interface Shape {
  /** JSON Schema types that the path may have; empty where the path is unknown. */
  typesAt(path: Path): string[];
  /** Keys that a map at this path may have; empty for a map with free keys. */
  keysAt(path: Path): string[];
  /** True where the value, or the list or map that holds it, is a secret. */
  isSecret(path: Path): boolean;
}

/** Reads a JSON Schema without references, as zod makes it. */
export const createShape = (jsonSchema: unknown): Shape => {
  const root = isNode(jsonSchema) ? alternatives(jsonSchema) : [];
  const nodesAt = (path: Path): Node[] =>
    path.reduce<Node[]>((nodes, key) => nodes.flatMap((node) => child(node, key)).flatMap(alternatives), root);
  return {
    typesAt: (path) =>
      nodesAt(path)
        .flatMap(({ type }) => type)
        .filter((type) => typeof type === 'string'),
    keysAt: (path) => nodesAt(path).flatMap(({ properties }) => (isNode(properties) ? Object.keys(properties) : [])),
    isSecret: (path) =>
      path.some((_, index) => nodesAt(path.slice(0, index + 1)).some((node) => node.writeOnly === true)),
  };
};
