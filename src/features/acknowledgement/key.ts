/** The key that tokens are made with, kept for a while: every message needs it. */
import type { AcknowledgementStore } from './store.ts';

/** Asks Redis where that was not done lately: it may have been emptied meanwhile. */
export type TokenKey = () => Promise<string>;

const GOOD_FOR_MS = 60_000;

/** Rejects where Redis fails. `now`: epoch milliseconds. */
export const createTokenKey = (store: Pick<AcknowledgementStore, 'key'>, now: () => number): TokenKey => {
  let known: { key: string; at: number } | undefined;
  return async () => {
    if (known === undefined || now() - known.at >= GOOD_FOR_MS || now() < known.at)
      known = { key: await store.key(), at: now() };
    return known.key;
  };
};
