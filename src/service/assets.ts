/** The contracts that come with a listed protocol: who administers them and which methods are privileged, read leniently. */
import type { JsonValue, ListedAsset } from '../alert.ts';
import { listOf, objectOf, optional, textOf } from './fields.ts';

/** What is beyond these is not known, rather than half known. */
const MOST_ASSETS = 1000;
const MOST_NAMES = 200;
const NAME_LIMIT = 100;

/** A name, a signature or a selector as it is compared: `pause(address)` -> `pause`. */
const plainMethod = (word: string): string => (word.split('(', 1)[0] ?? '').trim().toLowerCase();

/** What an element of an undocumented shape may call its method by. */
const METHOD_KEYS = ['name', 'selector', 'signature', 'method'];

const methodWords = (value: JsonValue): string[] => {
  const object = objectOf(value);
  const words = object ? METHOD_KEYS.map((key) => object[key]) : [value];
  return words.map((word) => (typeof word === 'string' ? plainMethod(word) : '')).filter((word) => word !== '');
};

/** The whole list or nothing: half a list would make a no of what is not known. */
const wholeList = (value: JsonValue | undefined, wordsOf: (element: JsonValue) => string[]): string[] | undefined => {
  const words = listOf(value).map(wordsOf);
  const isWhole = words.length > 0 && words.length <= MOST_NAMES && words.every((found) => found.length > 0);
  return isWhole ? [...new Set(words.flat())] : undefined;
};

const adminWords = (value: JsonValue): string[] => {
  const address = textOf(value);
  return address === undefined ? [] : [address.trim().toLowerCase()];
};

/** Selectors with their names and names with their selectors, by the asset's own table. */
const withAliases = (words: readonly string[], methods: JsonValue | undefined): string[] => {
  const table = Object.entries(objectOf(methods) ?? {}).map(([selector, name]) => [
    plainMethod(selector),
    plainMethod(textOf(name) ?? ''),
  ]);
  const aliases = table.filter((pair) => pair.some((word) => words.includes(word))).flat();
  return [...new Set([...words, ...aliases])].filter((word) => word !== '');
};

const decodeAsset = (raw: JsonValue): ListedAsset[] => {
  const asset = objectOf(raw);
  const address = textOf(asset?.address);
  if (asset === undefined || address === undefined) return [];
  const privileged = wholeList(asset.privilegedMethods, methodWords);
  return [
    {
      address: address.trim().toLowerCase(),
      ...optional('chainId', textOf(asset.chainId)?.trim()),
      ...optional('name', textOf(asset.descriptor)?.slice(0, NAME_LIMIT)),
      ...optional('admins', wholeList(asset.admins, adminWords)),
      ...optional('privileged', privileged && withAliases(privileged, asset.methods)),
    },
  ];
};

/** Undefined where the listing says nothing of assets. */
export const decodeAssets = (value: JsonValue | undefined): ListedAsset[] | undefined =>
  value === undefined ? undefined : listOf(value).slice(0, MOST_ASSETS).flatMap(decodeAsset);
