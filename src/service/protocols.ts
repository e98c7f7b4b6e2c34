/** Protocols, their channels and settings, and the answers to changes, decoded as leniently as items are. */
import { CHANNEL_KINDS, type JsonObject, type JsonValue } from '../alert.ts';
import type { ChannelEntry, ListedAsset } from '../item.ts';
import { countOf, cutDeep, isTooDeep, listOf, objectOf, optional, TOO_DEEP, textOf } from './fields.ts';
import type { Decode, Reading } from './request.ts';
import { collect, type Decoded, type Page, pageElements, pageFacts, tooManyElements } from './wire.ts';

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
  const wordsOf = (method: JsonValue): string[] => methodWords(method, table);
  return [
    {
      address: address.trim().toLowerCase(),
      ...optional('chainId', textOf(asset.chainId)?.trim()),
      ...optional('name', textOf(asset.descriptor)?.slice(0, NAME_LIMIT)),
      ...optional('admins', wholeList(asset.admins, adminWords)),
      ...optional('privileged', wholeList(asset.privilegedMethods, wordsOf)),
    },
  ];
};

/** The contracts that come with a listed protocol. Undefined where the listing has none. */
export const decodeAssets = (value: JsonValue | undefined): ListedAsset[] | undefined =>
  value === undefined ? undefined : listOf(value).slice(0, MOST_ASSETS).flatMap(decodeAsset);

export interface Protocol {
  /** The service's `protocolId`, which changes ask for. */
  id?: string;
  /** The service's `descriptor`, which lists ask for. */
  name: string;
  /** Undocumented kinds are kept by name; contacts and URL are not checked. */
  channels: ChannelEntry[];
  /** By severity, lower-case. */
  triggers: Record<string, Trigger>;
  tracking?: boolean;
  /** Absent where the listing has none that can be read. */
  detectors?: Detector[];
  /** Absent where the listing left them out. */
  assets?: ListedAsset[];
  raw: JsonObject;
}

/** A value that is no text is kept as its JSON, so that it is reported and not lost. */
const strings = (value: JsonValue | undefined): string[] =>
  listOf(value).flatMap((element) => textOf(element) ?? (element === null ? [] : JSON.stringify(element)));

const booleanOf = (value: JsonValue | undefined): boolean | undefined =>
  typeof value === 'boolean' ? value : undefined;

const channelName = (name: string): string => {
  const plain = name.trim().toLowerCase();
  return CHANNEL_KINDS.find((kind) => kind === plain) ?? name;
};

const contactsOf = (value: JsonValue | undefined): string[] | undefined =>
  value === undefined || value === null ? undefined : strings(value);

/** An entry without a name keeps the empty name: it is reported as unknown rather than dropped. */
const decodeChannel = (raw: JsonValue): ChannelEntry => {
  const entry = objectOf(raw) ?? { name: raw };
  return {
    name: channelName(textOf(entry.name) ?? ''),
    ...optional('contacts', contactsOf(entry.contacts)),
    ...optional('url', textOf(entry.url)),
  };
};

/** Null or absent channels are no channels. */
const channelsOf = (value: JsonValue | undefined): ChannelEntry[] => listOf(value).map(decodeChannel);

/** Each inner list of `detectionsGroup` is a group of detector names. */
const decodeTrigger = (raw: JsonValue) => {
  const trigger = objectOf(raw);
  return { detectionsGroup: listOf(trigger?.detectionsGroup).map(strings), actions: strings(trigger?.actions) };
};

export type Trigger = ReturnType<typeof decodeTrigger>;

const triggersOf = (value: JsonValue | undefined): Record<string, Trigger> =>
  Object.fromEntries(
    Object.entries(objectOf(value) ?? {}).map(([severity, raw]) => [severity.trim().toLowerCase(), decodeTrigger(raw)]),
  );

/** A detector that a protocol is inspected with. One without a name keeps the empty name: it is a detector, too. */
const decodeDetector = (raw: JsonValue) => {
  const entry = objectOf(raw) ?? { name: raw };
  return {
    name: textOf(entry.name) ?? '',
    ...optional('config', entry.config ?? undefined),
    ...optional('external', booleanOf(entry.external)),
  };
};

export type Detector = ReturnType<typeof decodeDetector>;

/** Null is an empty list, as elsewhere. */
const detectorsOf = (value: JsonValue | undefined): Detector[] | undefined =>
  value === undefined ? undefined : listOf(value).map(decodeDetector);

/** Characters that a protocol's name may have: it becomes part of URLs, keys, labels and messages. */
const MOST_NAME_CHARACTERS = 500;

/** An element of the listing: `{ protocols: Protocol }`, or the protocol itself. */
export const decodeProtocol = (raw: JsonValue): Decoded<Protocol> => {
  const element = objectOf(raw);
  const protocol = objectOf(element?.protocols) ?? element;
  if (protocol === undefined) return { ok: false, problem: 'not an object', raw };
  const name = textOf(protocol.descriptor);
  if (name === undefined) return { ok: false, problem: 'no descriptor', raw };
  if (name.length > MOST_NAME_CHARACTERS)
    return { ok: false, problem: `a name of ${name.length} characters, more than ${MOST_NAME_CHARACTERS}`, raw };
  // The service documents the key with three t's; the plain spelling is accepted as well, should it be corrected.
  const settings = objectOf(protocol.setttings) ?? objectOf(protocol.settings) ?? {};
  return {
    ok: true,
    item: {
      name,
      channels: channelsOf(settings.notificationChannels),
      triggers: triggersOf(settings.triggers),
      raw: protocol,
      ...optional('id', textOf(protocol.protocolId)),
      ...optional('tracking', booleanOf(settings.tracking)),
      ...optional('detectors', detectorsOf(settings.detectors)),
      ...optional('assets', decodeAssets(protocol.assets)),
    },
  };
};

/** The name of an element of the listing that could not be decoded; empty where it has none. */
export const nameOfListed = (raw: JsonValue): string => {
  const element = objectOf(raw);
  return textOf((objectOf(element?.protocols) ?? element)?.descriptor) ?? '';
};

/** The listing: a list of `{ page, pageNumber, total }`, or one of them. Page number and total are the first one's. */
export const decodeProtocolPage = (
  json: JsonValue,
  serverTime: number | undefined,
  isLater = false,
): Reading<Page<Protocol>> => {
  const elements: JsonValue[] = [];
  const wrappers = Array.isArray(json) ? json : [json];
  const tooMany = tooManyElements(wrappers.length);
  if (tooMany !== undefined) return tooMany;
  for (const raw of wrappers) {
    const wrapper = objectOf(raw);
    if (wrapper === undefined) return { ok: false, problem: 'it is not a list of objects with a page' };
    const inner = pageElements(wrapper, isLater);
    if (!inner.ok) return inner;
    const all = tooManyElements(elements.length + inner.value.length);
    if (all !== undefined) return all;
    for (const element of inner.value) elements.push(element);
  }
  const facts = pageFacts(objectOf(wrappers[0]) ?? {}, serverTime);
  // A protocol with a value that is nested too deep is watched without that value: only an item can be left out whole.
  const page = collect(elements.map(cutDeep), decodeProtocol);
  const deep = elements.filter(isTooDeep).map((raw) => ({ problem: TOO_DEEP, raw: cutDeep(raw) }));
  return { ok: true, value: { ...page, malformed: [...page.malformed, ...deep], ...facts } };
};

const decodeObject =
  <T>(decode: (raw: JsonObject) => T): Decode<T> =>
  (json) => {
    const raw = objectOf(cutDeep(json));
    return raw === undefined ? { ok: false, problem: 'it is not an object' } : { ok: true, value: decode(raw) };
  };

type ReadBy<D> = D extends Decode<infer T> ? T : never;

/** `raw` holds the assets as well. */
export const decodeSettings = decodeObject((raw) => ({
  detectors: strings(raw.detectors),
  channels: channelsOf(raw.notificationChannels),
  raw,
}));

export type ProtocolSettings = ReadBy<typeof decodeSettings>;

/**
 * What each number counts is as the service says; one that is missing or unreadable is absent. `suspicious` is documented;
 * the spelling of assessments is accepted as well.
 */
export const decodeStats = decodeObject((raw) => ({
  ...optional('page', countOf(raw.page)),
  ...optional('critical', countOf(raw.critical)),
  ...optional('suspicious', countOf(raw.suspicious) ?? countOf(raw.suspecious)),
  ...optional('total', countOf(raw.total)),
  raw,
}));

export type InspectionStats = ReadBy<typeof decodeStats>;

/** How many assets were added and modified. */
const changesOf = (value: JsonValue | undefined) => {
  const changes = objectOf(value);
  if (changes === undefined) return undefined;
  return { ...optional('added', countOf(changes.added)), ...optional('modified', countOf(changes.modified)) };
};

/** The answer to a change. `protocolId`: of a protocol that was created. */
export const decodeConfirmation = decodeObject((raw) => ({
  message: textOf(raw.message) ?? '',
  ...optional('protocolId', textOf(raw.protocolId)),
  ...optional('changes', changesOf(raw.changes)),
  raw,
}));

export type Confirmation = ReadBy<typeof decodeConfirmation>;
