/**
 * The troubles that this daemon has found itself, by name: `/readyz`, `status`, the page, metrics and the watchdog show the
 * same ones. Whoever finds one reports it, once or again and again, and says when it is over; nobody else has to be told.
 */
import { iso } from '../time.ts';
import { type Trouble, type TroubleName, troubleKey } from '../trouble.ts';

export interface Troubles {
  /**
   * `what` begins a sentence and `why` ends it, both without secrets and without a full stop. `of` distinguishes troubles
   * of one name. One that is reported again keeps its beginning.
   */
  report(name: TroubleName, what: string, details?: { why?: string; of?: string }): void;
  /** Does nothing where there was none. */
  over(name: TroubleName, of?: string): void;
  /** The first to begin comes first. */
  current(): Trouble[];
}

/** Whatever is reported comes from closed sets; should it not, the list still is short: it is written every few seconds. */
const MOST = 50;

export const createTroubles = ({ now }: { now(): number }): Troubles => {
  const known = new Map<string, Trouble>();
  return {
    report: (name, what, { why, of = '' } = {}) => {
      const key = troubleKey({ name, of });
      if (!known.has(key) && known.size >= MOST) return;
      const since = known.get(key)?.since ?? iso(now());
      known.set(key, { name, of, what, ...(why === undefined ? {} : { why }), since });
    },
    over: (name, of = '') => {
      known.delete(troubleKey({ name, of }));
    },
    current: () => [...known.values()],
  };
};
