/** Which items a query asks for, and in which order. */
import type { Random } from '../random.ts';
import type { SandboxInspection } from './model.ts';
import { NOT_DETECTED } from './model.ts';
import type { Query } from './query.ts';
import type { ItemDate, Quirks } from './quirks.ts';

/** What dates the two kinds of item have in common. */
interface Dated {
  createdAt: number;
  updatedAt: number;
  txTimestamp?: number;
}

export interface Place {
  chainId?: number;
  contractAddress?: string;
}

const dateOf = (item: Dated, field: ItemDate): number => item[field] ?? item.createdAt;

const same = (left: string, right: string): boolean => left.toLowerCase() === right.toLowerCase();

/** `startDate` selects what is later, `endDate` what is earlier; both exclude the moment itself. */
export const createDateFilter = (query: Query, { dateField, ignoredBounds }: Quirks): ((item: Dated) => boolean) => {
  const bound = (name: 'startDate' | 'endDate'): number | undefined => {
    const at = query.date(name);
    return ignoredBounds === name || ignoredBounds === 'both' ? undefined : at;
  };
  const after = bound('startDate') ?? Number.NEGATIVE_INFINITY;
  const before = bound('endDate') ?? Number.POSITIVE_INFINITY;
  return (item) => dateOf(item, dateField) > after && dateOf(item, dateField) < before;
};

const fired = ({ detections }: SandboxInspection, detectors: readonly string[]): boolean =>
  detectors.some((name) => (detections[name]?.status ?? NOT_DETECTED) !== NOT_DETECTED);

const createPlaceFilter =
  ({ chainId, contractAddress }: Place) =>
  (item: SandboxInspection): boolean =>
    (chainId === undefined || item.chainId === chainId) &&
    (contractAddress === undefined || item.assets.some(({ address }) => same(address, contractAddress)));

/** All filters must hold; several ids or detectors are alternatives. Hashes and addresses ignore case. */
export const createInspectionFilter = (
  query: Query,
  place: Place,
  quirks: Quirks,
): ((item: SandboxInspection) => boolean) => {
  const ids = query.many('id');
  const hash = query.one('hash');
  const origin = query.one('origin');
  const status = query.word('status', ['ok', 'suspecious', 'critical']);
  const detectors = query.many('detected');
  const dated = createDateFilter(query, quirks);
  const placed = createPlaceFilter(place);
  return (item) =>
    dated(item) &&
    (status === undefined || item.assessment === status) &&
    (ids?.includes(item._id) ?? true) &&
    (hash === undefined || same(item.txHash, hash)) &&
    (origin === undefined || same(item.txOrigin, origin)) &&
    (detectors === undefined || fired(item, detectors)) &&
    placed(item);
};

const shuffled = <Item>(items: readonly Item[], random: Random): Item[] =>
  items
    .map((item) => ({ item, key: random.next() }))
    .toSorted((a, b) => a.key - b.key)
    .map(({ item }) => item);

export const directionOf = (query: Query, { defaultSort, ignoresSort }: Quirks): 'asc' | 'dsc' => {
  const asked = query.word('sort', ['asc', 'dsc']);
  return ignoresSort ? defaultSort : (asked ?? defaultSort);
};

/** Items of one date keep their order of insertion, unless the quirk shuffles them at each request. */
export const sortItems = <Item extends Dated>(
  items: readonly Item[],
  query: Query,
  quirks: Quirks,
  random: Random,
): Item[] => {
  const direction = directionOf(query, quirks) === 'asc' ? 1 : -1;
  const start = quirks.unstableTies ? shuffled(items, random) : items;
  return start.toSorted((a, b) => direction * (dateOf(a, quirks.sortField) - dateOf(b, quirks.sortField)));
};
