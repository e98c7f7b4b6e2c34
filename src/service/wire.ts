/**
 * Inspections and notifications as the service gives them, decoded leniently: a field of another shape is left out, and
 * an item without identity or assessment is set aside as malformed, so that the items beside it are still read.
 */
import type { JsonObject, JsonValue } from '../alert.ts';
import { orUndefined, type ServiceBound } from '../errors.ts';
import { contentId, type ItemDates, type MalformedItem } from '../item.ts';
import { countOf, cutDeep, dateMs, isTooDeep, listOf, objectOf, optional, TOO_DEEP, textOf } from './fields.ts';
import type { Decode, Excess, Reading } from './request.ts';

/** The service's own spelling. */
export const ASSESSMENTS = ['ok', 'suspecious', 'critical'] as const;
export type Assessment = (typeof ASSESSMENTS)[number];

export interface Inspection {
  /** The service's `_id`, or derived from the content where there is none, see `inspectionContentId`. */
  id: string;
  /** The protocol's name, as the item says it; the one that was asked for where it says none. */
  protocol: string;
  /** One of `ASSESSMENTS`, or an undocumented word as it stands. */
  assessment: string;
  txHash?: string;
  dates: ItemDates;
  raw: JsonObject;
}

export interface Notification {
  /** The service's own id, in case it gives one: none is documented, and it may be another one's. */
  id?: string;
  message: string;
  protocol: string;
  dates: ItemDates;
  raw: JsonObject;
}

export type Decoded<T> = { ok: true; item: T } | ({ ok: false } & MalformedItem);

export interface Page<T> {
  items: T[];
  malformed: MalformedItem[];
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

/** What words count as that the interface does not name. */
export interface Wording {
  /** Anybody who can write an assessment could hide a finding behind a word of his own: it counts as a bad one. */
  unknownAs: Assessment;
  /** Those that an operator knows to be harmless, in lower case. */
  harmless: readonly string[];
}

/** A word that the interface does not name, as it stands. */
export const isUnknownWord = (word: string): boolean => !ASSESSMENTS.some((known) => known === word);

/** The assessment that a word, as `readAssessment` gives it, counts as. */
export const countedAs = (word: string, { unknownAs, harmless }: Wording): string => {
  if (!isUnknownWord(word)) return word;
  return harmless.includes(word.trim().toLowerCase()) ? 'ok' : unknownAs;
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

/** When an item was written, as a part of its identity; a date that cannot be read still distinguishes items. */
const createdKey = (raw: JsonObject): string => String(dateMs(raw.createdAt) ?? textOf(raw.createdAt) ?? '');

/** The service's own id. Notifications have none by its documentation; should they get one, it is used. */
const ownId = (raw: JsonObject): string | undefined => textOf(raw._id) ?? textOf(raw.id);

/**
 * Identity of an inspection without an id: protocol, chain, transaction, creation time and the assets' addresses. That
 * stays the same when an inspection is assessed again, and distinguishes two inspections of one transaction.
 */
const inspectionContentId = (raw: JsonObject, protocol: string, txHash: string): string =>
  contentId(protocol, textOf(raw.chainId) ?? '', txHash, createdKey(raw), ...assetAddresses(raw));

/** `askedProtocol`: the name that was asked for, used where the item names none. */
export const decodeInspection = (raw: JsonValue, askedProtocol: string): Decoded<Inspection> => {
  const object = objectOf(raw);
  if (object === undefined) return malformed('not an object', raw);
  const protocol = textOf(object.protocol) ?? askedProtocol;
  const txHash = textOf(object.txHash)?.trim().toLowerCase();
  const id = ownId(object) ?? (txHash && inspectionContentId(object, protocol, txHash));
  if (id === undefined) return malformed('neither _id nor txHash', raw);
  const word = textOf(object.assessment);
  if (word === undefined) return malformed('no assessment', raw);
  const inspection = { id, protocol, assessment: readAssessment(word), dates: datesOf(object), raw: object };
  return { ok: true, item: { ...inspection, ...optional('txHash', txHash) } };
};

/** `askedProtocols`: a notification that names no protocol belongs to the one that was asked for, if it was only one. */
export const decodeNotification = (raw: JsonValue, askedProtocols: readonly string[]): Decoded<Notification> => {
  const object = objectOf(raw);
  if (object === undefined) return malformed('not an object', raw);
  const only = askedProtocols.length === 1 ? askedProtocols[0] : undefined;
  const protocol = textOf(object.protocol) ?? only;
  if (protocol === undefined) return malformed('no protocol', raw);
  const { message: value } = object;
  if (value === undefined || value === null) return malformed('no message', raw);
  const message = typeof value === 'string' ? value : JSON.stringify(value);
  const notification = { message, protocol, dates: datesOf(object), raw: object };
  return { ok: true, item: { ...notification, ...optional('id', ownId(object)) } };
};

/** Identity of a notification: with its own id, else with its creation time. Who writes it may give it the id of another one. */
export const notificationId = ({ id, protocol, message, raw }: Notification): string =>
  contentId(protocol, id ?? createdKey(raw), message);

/** Sorts the elements of a page into items and malformed ones. Depth is checked here, once, for all that comes after. */
export const collect = <T>(
  elements: readonly JsonValue[],
  decode: (raw: JsonValue) => Decoded<T>,
): Pick<Page<T>, 'items' | 'malformed'> => {
  const page: Pick<Page<T>, 'items' | 'malformed'> = { items: [], malformed: [] };
  for (const element of elements) {
    const decoded = isTooDeep(element) ? malformed(TOO_DEEP, cutDeep(element)) : decode(element);
    if (decoded.ok) page.items.push(decoded.item);
    else page.malformed.push({ problem: decoded.problem, raw: decoded.raw });
  }
  return page;
};

/**
 * Whether an answer without `page` is an empty page: some services leave an empty list out. It has to look like a page,
 * or an error that came with 200 would end a walk. A first page has to say, too, that there is nothing.
 */
const isEmptyPage = (wrapper: JsonObject, isLater: boolean): boolean => {
  const total = countOf(wrapper.total);
  const isPage = total !== undefined || countOf(wrapper.pageNumber) !== undefined;
  return isLater ? isPage || Object.keys(wrapper).length === 0 : isPage && (total ?? 0) === 0;
};

/**
 * On one page. The largest answer has no room for this many real items. Elements of a few bytes fit, and cost a hundred
 * times their size in memory.
 */
export const MOST_ELEMENTS = 100_000;

/** Why a page with `count` elements is not read; undefined where it is. */
export const tooManyElements = (count: number): { ok: false; problem: string; bound: ServiceBound } | undefined =>
  count > MOST_ELEMENTS
    ? { ok: false, problem: `a page with ${count} elements, more than ${MOST_ELEMENTS}`, bound: 'page-elements' }
    : undefined;

/** The elements of `{ page, pageNumber, total }`; `page: null` is an empty page. `isLater`: not a first page. */
export const pageElements = (wrapper: JsonObject, isLater: boolean): Reading<JsonValue[]> => {
  const { page } = wrapper;
  if (Array.isArray(page)) return tooManyElements(page.length) ?? { ok: true, value: page };
  if (page === null || (page === undefined && isEmptyPage(wrapper, isLater))) return { ok: true, value: [] };
  return { ok: false, problem: page === undefined ? 'it has no page' : 'its page is not a list' };
};

export const pageFacts = (
  wrapper: JsonObject,
  serverTime: number | undefined,
): Omit<Page<never>, 'items' | 'malformed'> => ({
  ...optional('pageNumber', countOf(wrapper.pageNumber)),
  ...optional('total', countOf(wrapper.total)),
  ...optional('serverTime', serverTime),
});

/** Decodes `{ page, pageNumber, total }` with items of one sort. `isLater`: the answer is not a list's first page. */
export const decodePage =
  <T>(decode: (raw: JsonValue) => Decoded<T>, isLater = false): Decode<Page<T>> =>
  (json, serverTime) => {
    const wrapper = objectOf(json);
    if (wrapper === undefined) return { ok: false, problem: 'it is not an object with a page' };
    const elements = pageElements(wrapper, isLater);
    if (!elements.ok) return elements;
    return { ok: true, value: { ...collect(elements.value, decode), ...pageFacts(wrapper, serverTime) } };
  };

const PAGE = /"page"\s*:\s*\[\s*(?=\{)/;

/** What helps to find the item at the service. */
const NAMED_BY = ['_id', 'id', 'txHash', 'protocol', 'createdAt', 'descriptor', 'protocolId'] as const;
/** What wraps a listed protocol. */
const WRAPPER = /^\{\s*"protocols"\s*:\s*(?=\{)/;
/** So much of an item is searched for it, and so much is shown of one that has nothing of it. */
const SEARCHED = 65_536;
const SHOWN = 300;

const STEPS: ReadonlyMap<string | undefined, number> = new Map([
  ['{', 1],
  ['[', 1],
  ['}', -1],
  [']', -1],
]);

/** How many brackets are open at `to`, of those from `from` on; 0 where the first one was closed before. */
const depthAt = (text: string, from: number, to: number): number => {
  let depth = 0;
  let isText = false;
  for (let at = from; at < to; at += 1) {
    const char = text[at];
    if (isText && char === '\\') at += 1;
    else if (char === '"') isText = !isText;
    else if (!isText) depth += STEPS.get(char) ?? 0;
    if (depth === 0) return 0;
  }
  return depth;
};

/** Short texts and numbers that stand directly in the item. */
const fieldOf = (item: string, name: string): JsonObject => {
  for (const match of item.matchAll(
    new RegExp(`"${name}"\\s*:\\s*("(?:[^"\\\\]|\\\\.){1,200}"|\\d{1,20}(?=[\\s,}]))`, 'g'),
  )) {
    if (depthAt(item, 0, match.index) !== 1) continue;
    return orUndefined(() => ({ [name]: JSON.parse(match[1] ?? '') })) ?? {};
  }
  return {};
};

/**
 * Of the beginning of an answer that a single item made too large: the page of that one item, as malformed. Undefined where
 * the first item ends before the bound: then there are others, and none may be passed over.
 */
export const pageOfOversized = ({ start, problem, bound }: Excess): Page<never> | undefined => {
  const match = PAGE.exec(start.slice(0, SEARCHED));
  if (match === null) return undefined;
  const from = match.index + match[0].length;
  if (depthAt(start, from, start.length) === 0) return undefined;
  const item = start.slice(from, from + SEARCHED).replace(WRAPPER, '');
  const names: JsonObject = Object.assign({}, ...NAMED_BY.map((name) => fieldOf(item, name)));
  const raw = Object.keys(names).length > 0 ? names : item.slice(0, SHOWN);
  return { items: [], malformed: [{ problem, raw, bound }] };
};
