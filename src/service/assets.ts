/** The contracts that come with a listed protocol: who administers them and which methods are privileged, read leniently. */
import type { JsonValue } from '../alert.ts';
import type { ListedAsset } from '../item.ts';
import { listOf, objectOf, optional, textOf } from './fields.ts';

/** A longer list counts as unknown: half of it would mislead. */
const MOST_ASSETS = 1000;
const MOST_NAMES = 200;
const NAME_LIMIT = 100;

/** A name, a signature or a selector as it is compared: `pause(address)` -> `pause`. */
const plainMethod = (word: string): string => (word.split('(', 1)[0] ?? '').trim().toLowerCase();

/** Keys under which an element of an undocumented shape may name its method. */
const METHOD_KEYS = ['name', 'selector', 'signature', 'method'];

const SELECTOR = /^0x[0-9a-f]{8}$/;

type Table = readonly (readonly [selector: string, name: string])[];

const tableOf = (methods: JsonValue | undefined): Table =>
  Object.entries(objectOf(methods) ?? {})
    .map(([selector, name]) => [plainMethod(selector), plainMethod(textOf(name) ?? '')] as const)
    .filter(([, name]) => name !== '');

/** A method by all its words; none where it has no name, as inspections call methods by name. */
const methodWords = (value: JsonValue, table: Table): string[] => {
  const object = objectOf(value);
  const given = object ? METHOD_KEYS.map((key) => object[key]) : [value];
  const words = given.flatMap((word) => (typeof word === 'string' ? plainMethod(word) || [] : []));
  const all = [...words, ...table.filter((pair) => pair.some((word) => words.includes(word))).flat()];
  return all.some((word) => !SELECTOR.test(word)) ? all : [];
};

/** The whole list or nothing: with half a list, an admin who is missing from it would count as none. */
const wholeList = (value: JsonValue | undefined, wordsOf: (element: JsonValue) => string[]): string[] | undefined => {
  const words = listOf(value).map(wordsOf);
  const isWhole = words.length > 0 && words.length <= MOST_NAMES && words.every((found) => found.length > 0);
  return isWhole ? [...new Set(words.flat())] : undefined;
};

const adminWords = (value: JsonValue): string[] => {
  const address = textOf(value);
  return address === undefined ? [] : [address.trim().toLowerCase()];
};

const decodeAsset = (raw: JsonValue): ListedAsset[] => {
  const asset = objectOf(raw);
  const address = textOf(asset?.address);
  if (asset === undefined || address === undefined) return [];
  const table = tableOf(asset.methods);
  return [
    {
      address: address.trim().toLowerCase(),
      ...optional('chainId', textOf(asset.chainId)?.trim()),
      ...optional('name', textOf(asset.descriptor)?.slice(0, NAME_LIMIT)),
      ...optional('admins', wholeList(asset.admins, adminWords)),
      ...optional(
        'privileged',
        wholeList(asset.privilegedMethods, (method) => methodWords(method, table)),
      ),
    },
  ];
};

/** Undefined where the listing has no assets. */
export const decodeAssets = (value: JsonValue | undefined): ListedAsset[] | undefined =>
  value === undefined ? undefined : listOf(value).slice(0, MOST_ASSETS).flatMap(decodeAsset);
