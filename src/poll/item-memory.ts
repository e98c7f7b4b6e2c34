/**
 * Which items of a stream need nothing more, as this daemon saw them done: a read that brings only those is quiet.
 * An item whose assessment or date has changed is another one.
 */
import type { Item } from '../item.ts';

/** Of one track; of what is beyond it Redis is asked at each read. About 100 bytes each, in two generations. */
const MOST_REMEMBERED = 100;

/** `told`: it was counted and reported. `done`: besides, it is queued, or not wanted. */
export type ItemState = 'told' | 'done';

const keyOf = ({ itemId, assessment = '', dates }: Item): string =>
  `${itemId} ${assessment} ${Math.max(...Object.values(dates))}`;

export interface ItemMemory {
  stateOf(item: Item): ItemState | undefined;
  note(item: Item, state: ItemState): void;
  /** A sweep has ended, which reads everything that can still come: what it did not bring is forgotten with the next. */
  swept(): void;
}

export const createItemMemory = (tracks: number): ItemMemory => {
  const most = MOST_REMEMBERED * tracks;
  let young = new Map<string, ItemState>();
  let old = young;
  const set = (key: string, state: ItemState): void => {
    if (young.size < most || young.has(key)) young.set(key, state);
  };
  return {
    stateOf: (item) => {
      if (young.size + old.size === 0) return undefined;
      const key = keyOf(item);
      const state = young.get(key) ?? old.get(key);
      if (state !== undefined && !young.has(key)) set(key, state);
      return state;
    },
    note: (item, state) => set(keyOf(item), state),
    swept: () => {
      old = young;
      young = new Map();
    },
  };
};
