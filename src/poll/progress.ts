/** How far the cursors may go during and after one poll. */
import type { Item } from '../item.ts';
import { createWatermark } from './watermark.ts';

export interface Progress {
  position?: number | undefined;
  sweptTo?: number | undefined;
}

export interface ProgressSettings {
  /** The service's own time in epoch milliseconds, which the answers of this read may correct. */
  clock(): number;
  now(): number;
  /** When the read began: by the service's clock, as it was taken to be then, and by ours. Epoch milliseconds. */
  begun: number;
  ownBegun: number;
  isSweep: boolean;
  /** Milliseconds. */
  lookback: number;
}

export const createProgress = (settings: ProgressSettings) => {
  const { clock, now, ownBegun, isSweep, lookback } = settings;
  const watermark = createWatermark();
  /** When the read began. The answers may have shown that the service's clock is behind what we took it for. */
  const begun = (): number => Math.min(settings.begun, clock() - (now() - ownBegun));
  return {
    begun,
    /** Counts a page. */
    count: (items: readonly Item[]): void => watermark.count(items),
    /**
     * Once all before `settledBefore` was read; left out, when the read has ended. No date ahead of the service's own
     * clock moves a cursor, or one item from the future would hide all that come before it.
     */
    upTo: (settledBefore?: number): Progress => {
      const position = watermark.upTo(Math.min(settledBefore ?? begun(), begun()));
      if (position === undefined || !isSweep) return { position };
      return {
        position,
        sweptTo: settledBefore === undefined ? begun() : Math.min(position + lookback, begun()),
      };
    },
  };
};
