/** How a page meets what is remembered of its items. Pure but for that memory. */
import type { ItemPage } from '../item.ts';
import { type IngestSettings, standingOf } from './ingest.ts';
import type { ItemMemory } from './item-memory.ts';
import type { Window } from './windows.ts';

export const createRecollection = (settings: IngestSettings) => ({
  /** Those that were not told before. */
  untold: ({ items }: ItemPage, memory: ItemMemory): ItemPage['items'] =>
    items.filter((item) => memory.stateOf(item) === undefined),
  /** Nothing on the page is to be queued. */
  isQuiet: ({ items }: ItemPage, windows: readonly Window[], memory: ItemMemory): boolean =>
    items.every(
      (item) =>
        memory.stateOf(item) === 'done' || ['unwanted', 'outside'].includes(standingOf(item, windows, settings)),
    ),
  /** The page was read, told and, where that was to be done, queued. */
  note: ({ items }: ItemPage, windows: readonly Window[], memory: ItemMemory): void => {
    for (const item of items) {
      if (memory.stateOf(item) === 'done') continue;
      const standing = standingOf(item, windows, settings);
      memory.note(item, standing === 'unwanted' || standing === 'settled' ? 'done' : 'told');
    }
  },
});
