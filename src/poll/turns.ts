/** The turns of the shared schedule that read the services, and where in an interval a poll has its place. */
import { contentId } from '../item.ts';
import { type Stream, streamKey } from './stream.ts';

/** The work of one turn; travels through Redis, so any daemon can take it. `poll`: of an older daemon. */
export type TurnData = { kind: 'catalog'; service: string } | { kind: 'poll' };

export interface CatalogTurn {
  id: string;
  everyMs: number;
  data: TurnData;
}

/** One listing a service; `everyMs` between two of them. */
export const catalogTurns = (services: readonly string[], everyMs: number): CatalogTurn[] =>
  services.map((service) => ({ id: `catalog.${contentId(service)}`, everyMs, data: { kind: 'catalog', service } }));

/** Over this many milliseconds the polls of one interval are spread; two for each where that is more. */
const SPREAD_MS = 2000;
const APART_MS = 2;

/**
 * Milliseconds from the start of an interval. Polls that all came at once would wait for each other, and their alerts with
 * them. Notifications come first: the transactions that they name are then in the poll of inspections that follows.
 */
export const placeOf = (stream: Stream, everyMs: number, streams: number): number => {
  if (stream.source === 'notifications') return 0;
  const spreadMs = Math.min(everyMs - 1, Math.max(SPREAD_MS, APART_MS * streams));
  return Number.parseInt(streamKey(stream).slice(0, 8), 16) % Math.max(1, spreadMs);
};
