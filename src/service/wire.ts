/**
 * Inspections and notifications as the service gives them, decoded leniently: a field of another shape is left out, and
 * an item that cannot be told apart or judged is set aside as malformed, so that it never takes its neighbours with it.
 */
import {
  contentId,
  type Item,
  type ItemDates,
  type JsonObject,
  type JsonValue,
  type MalformedItem,
  type Source,
} from '../alert.ts';
import { countOf, dateMs, listOf, objectOf, optional, textOf } from './fields.ts';
import type { Decode, Reading } from './request.ts';

/** The service's own spelling. */
export const ASSESSMENTS = ['ok', 'suspecious', 'critical'] as const;
export type Assessment = (typeof ASSESSMENTS)[number];

export type Decoded<T> = { ok: true; item: T } | ({ ok: false } & MalformedItem);

/** One answer of a list endpoint. */
export interface Page<T> {
  items: T[];
  malformed: MalformedItem[];
  /** The page number that the answer names. */
  pageNumber?: number;
  /** What this counts (items, pages, this page) is not documented: show it, never rely on it. */
  total?: number;
  /** The answer's `Date` header in epoch milliseconds: the service's own clock. */
  serverTime?: number;
}

const malformed = (problem: string, raw: JsonValue): { ok: false } & MalformedItem => ({ ok: false, problem, raw });

/** Known words regardless of case and spaces, `suspicious` in the service's spelling, any other word as it stands. */
export const readAssessment = (word: string): string => {
  const plain = word.trim().toLowerCase();
  if (plain === 'suspicious') return 'suspecious';
  return ASSESSMENTS.find((known) => known === plain) ?? word;
};

const datesOf = (raw: JsonObject): ItemDates => ({
  ...optional('createdAt', dateMs(raw.createdAt)),
  ...optional('updatedAt', dateMs(raw.updatedAt)),
  ...optional('txTimestamp', dateMs(raw.txTimestamp)),
});

const assetAddresses = (raw: JsonObject): string[] =>
  listOf(raw.assets)
    .map((asset) => (textOf(objectOf(asset)?.address) ?? '').toLowerCase())
    .toSorted();

/** When an item was written, as a part of its identity; a date that cannot be read still tells items apart. */
const createdKey = (raw: JsonObject): string => String(dateMs(raw.createdAt) ?? textOf(raw.createdAt) ?? '');

/** The service's own id. Notifications have none by its description; should they get one, it is taken. */
const ownId = (raw: JsonObject): string | undefined => textOf(raw._id) ?? textOf(raw.id);

/**
 * Identity of an inspection without an id: protocol, chain, transaction, creation time and the assets' addresses. That
 * stays when an inspection is judged anew, and tells two inspections of one transaction apart.
 */
const inspectionContentId = (raw: JsonObject, protocol: string, txHash: string): string =>
  contentId(protocol, textOf(raw.chainId) ?? '', txHash, createdKey(raw), ...assetAddresses(raw));

const itemBase = (source: Source, raw: JsonObject, protocol: string, itemId: string): Item => ({
  source,
  protocol,
  itemId,
  dates: datesOf(raw),
  raw,
});

/** `askedProtocol`: the name that was asked for, taken where the item names none. */
export const decodeInspection = (raw: JsonValue, askedProtocol: string): Decoded<Item> => {
  const object = objectOf(raw);
  if (object === undefined) return malformed('not an object', raw);
  const protocol = textOf(object.protocol) ?? askedProtocol;
  const txHash = textOf(object.txHash)?.trim().toLowerCase();
  const itemId = ownId(object) ?? (txHash && inspectionContentId(object, protocol, txHash));
  if (itemId === undefined) return malformed('neither _id nor txHash', raw);
  const word = textOf(object.assessment);
  if (word === undefined) return malformed('no assessment', raw);
  const item = { ...itemBase('inspections', object, protocol, itemId), assessment: readAssessment(word) };
  return { ok: true, item: { ...item, ...optional('txHash', txHash) } };
};

/**
 * `askedProtocols`: a notification that names no protocol belongs to the one that was asked for, if it was only one.
 * Without an id of its own it is told apart by protocol, creation time and message.
 */
export const decodeNotification = (raw: JsonValue, askedProtocols: readonly string[]): Decoded<Item> => {
  const object = objectOf(raw);
  if (object === undefined) return malformed('not an object', raw);
  const only = askedProtocols.length === 1 ? askedProtocols[0] : undefined;
  const protocol = textOf(object.protocol) ?? only;
  if (protocol === undefined) return malformed('no protocol', raw);
  const { message } = object;
  if (message === undefined || message === null) return malformed('no message', raw);
  const text = typeof message === 'string' ? message : JSON.stringify(message);
  const itemId = ownId(object) ?? contentId(protocol, createdKey(object), text);
  return { ok: true, item: itemBase('notifications', object, protocol, itemId) };
};

/** Sorts the elements of a page into items and malformed ones. */
export const collect = <T>(
  elements: readonly JsonValue[],
  decode: (raw: JsonValue) => Decoded<T>,
): Pick<Page<T>, 'items' | 'malformed'> => {
  const page: Pick<Page<T>, 'items' | 'malformed'> = { items: [], malformed: [] };
  for (const element of elements) {
    const decoded = decode(element);
    if (decoded.ok) page.items.push(decoded.item);
    else page.malformed.push({ problem: decoded.problem, raw: decoded.raw });
  }
  return page;
};

/** The elements of `{ page, pageNumber, total }`. `page: null` is an empty page; no `page` at all is another answer. */
export const pageElements = (wrapper: JsonObject): Reading<JsonValue[]> => {
  const { page } = wrapper;
  if (page === null) return { ok: true, value: [] };
  if (Array.isArray(page)) return { ok: true, value: page };
  return { ok: false, problem: page === undefined ? 'it has no page' : 'its page is not a list' };
};

/** What an answer says about itself besides its items. */
export const pageFacts = (
  wrapper: JsonObject,
  serverTime: number | undefined,
): Omit<Page<never>, 'items' | 'malformed'> => ({
  ...optional('pageNumber', countOf(wrapper.pageNumber)),
  ...optional('total', countOf(wrapper.total)),
  ...optional('serverTime', serverTime),
});

/** Decodes `{ page, pageNumber, total }` with items of one sort. */
export const decodePage =
  <T>(decode: (raw: JsonValue) => Decoded<T>): Decode<Page<T>> =>
  (json, serverTime) => {
    const wrapper = objectOf(json);
    if (wrapper === undefined) return { ok: false, problem: 'it is not an object with a page' };
    const elements = pageElements(wrapper);
    if (!elements.ok) return elements;
    return { ok: true, value: { ...collect(elements.value, decode), ...pageFacts(wrapper, serverTime) } };
  };
