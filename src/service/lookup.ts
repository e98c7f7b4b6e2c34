/**
 * Reads single inspections again. An inspection that an answer lacks may still exist: the service may read lists in a
 * query differently, ignore the filter, or give fewer than were asked for. So an inspection that a list of ids does not
 * bring is asked for by its transaction, and it counts as gone only when the answer shows that the service filtered.
 */
import { chunksOf } from '../chunks.ts';
import type { Item } from '../item.ts';
import type { ServiceClient, ServiceClock } from './client.ts';
import { fromInspection, STRICT } from './feed.ts';
import { type FetchPage, isOversized } from './page-size.ts';
import { type PageNumbering, walkPages } from './paginate.ts';
import type { InspectionQuery } from './queries.ts';
import type { Inspection, Page } from './wire.ts';

export interface Wanted {
  itemId: string;
  txHash?: string;
}

/** `unsure`: the answers do not show whether it exists; ask again later. */
export type Sighting = { kind: 'found'; item: Item } | { kind: 'gone' } | { kind: 'unsure' };

/** By item id, one for each that is wanted. Throws a `ServiceError`. */
export type Lookup = (
  protocol: string,
  wanted: readonly Wanted[],
  signal: AbortSignal,
) => Promise<Map<string, Sighting>>;

/** Ids travel in the URL. */
const IDS_PER_REQUEST = 20;
/** Pages with inspections of one transaction; where the list is longer, the service ignored the filter. */
const MAX_PAGES = 20;

const UNSURE: Sighting = { kind: 'unsure' };

export const createLookup = (client: ServiceClient, clock: ServiceClock, wording = STRICT): Lookup => {
  const numbering: PageNumbering = {};
  const { pageSize } = client;
  const itemOf = (inspection: Inspection): Item => fromInspection(inspection, wording);

  const ask = async (query: InspectionQuery, signal: AbortSignal): Promise<Page<Inspection>> => {
    const page = await client.listInspections(query, signal);
    clock.observe(page.serverTime);
    return page;
  };

  /** Where the answer is too large to be read, half as many are asked for at once; one that alone is too large is left out. */
  const byIds = async (protocol: string, ids: readonly string[], signal: AbortSignal): Promise<Item[]> => {
    try {
      const { items } = await ask({ protocol, id: ids }, signal);
      return items.map(itemOf).filter(({ itemId }) => ids.includes(itemId));
    } catch (error) {
      if (!isOversized(error)) throw error;
      if (ids.length === 1) return [];
      const middle = Math.ceil(ids.length / 2);
      const first = await byIds(protocol, ids.slice(0, middle), signal);
      return [...first, ...(await byIds(protocol, ids.slice(middle), signal))];
    }
  };

  const byHash = async (protocol: string, itemId: string, hash: string, signal: AbortSignal): Promise<Sighting> => {
    const fetchPage: FetchPage<Inspection> = (pageNumber, size) =>
      ask({ protocol, hash, pageNumber, pageSize: size }, signal);
    let pages = 0;
    for await (const { items, malformed } of walkPages(fetchPage, ({ id }) => id, { numbering, pageSize })) {
      const own = items.find(({ id }) => id === itemId);
      if (own) return { kind: 'found', item: itemOf(own) };
      // A malformed item may be the wanted one; one of another transaction shows that the filter was ignored.
      if (malformed.length > 0 || items.some(({ txHash }) => txHash !== hash)) return UNSURE;
      pages += 1;
      if (pages >= MAX_PAGES) return UNSURE;
    }
    return { kind: 'gone' };
  };

  /** A single id looks the same in most list styles, so an empty answer means that it was not found. */
  const alone = async (protocol: string, itemId: string, signal: AbortSignal): Promise<Sighting> => {
    const { items, malformed } = await ask({ protocol, id: [itemId] }, signal);
    const own = items.find(({ id }) => id === itemId);
    if (own) return { kind: 'found', item: itemOf(own) };
    return items.length + malformed.length === 0 ? { kind: 'gone' } : UNSURE;
  };

  const single = async (protocol: string, { itemId, txHash }: Wanted, signal: AbortSignal): Promise<Sighting> => {
    try {
      return await (txHash === undefined ? alone(protocol, itemId, signal) : byHash(protocol, itemId, txHash, signal));
    } catch (error) {
      if (isOversized(error)) return UNSURE;
      throw error;
    }
  };

  return async (protocol, wanted, signal) => {
    const sightings = new Map<string, Sighting>();
    for (const chunk of chunksOf(wanted, IDS_PER_REQUEST)) {
      const ids = chunk.map(({ itemId }) => itemId);
      for (const item of await byIds(protocol, ids, signal)) sightings.set(item.itemId, { kind: 'found', item });
    }
    for (const one of wanted) {
      if (!sightings.has(one.itemId)) sightings.set(one.itemId, await single(protocol, one, signal));
    }
    return sightings;
  };
};
