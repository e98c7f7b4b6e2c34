/**
 * The troubles that this daemon has found itself, by name: `/readyz`, `status`, the page, metrics and the watchdog show the
 * same ones. The part that finds one reports it, once or again and again, and says when it is over.
 */
import { iso } from '../time.ts';
import { type Trouble, type TroubleName, troubleKey } from '../trouble.ts';

export interface Troubles {
  /**
   * `what` begins a sentence and `why` ends it, both without secrets and without a full stop. `of` distinguishes troubles
   * of one name. One that is reported again keeps its beginning. With `lastsMs` it is over by itself when it was not
   * reported for so long. `todo`: what mends just this one.
   */
  report(
    name: TroubleName,
    what: string,
    details?: { why?: string; of?: string; todo?: string; lastsMs?: number },
  ): void;
  /** Does nothing where there was none. */
  over(name: TroubleName, of?: string): void;
  /** The first to begin comes first. */
  current(): Trouble[];
}

/** What is reported comes from closed sets; should it not, the list still is short: it is written every few seconds. */
const MOST = 50;

export const createTroubles = ({ now }: { now(): number }): Troubles => {
  const known = new Map<string, Trouble>();
  const endsAt = new Map<string, number>();

  const endThose = (): void => {
    for (const [key, at] of endsAt) {
      if (now() < at) continue;
      endsAt.delete(key);
      known.delete(key);
    }
  };

  return {
    report: (name, what, { why, of = '', todo, lastsMs } = {}) => {
      endThose();
      const key = troubleKey({ name, of });
      if (!known.has(key) && known.size >= MOST) return;
      const since = known.get(key)?.since ?? iso(now());
      const more = { ...(why === undefined ? {} : { why }), ...(todo === undefined ? {} : { todo }) };
      known.set(key, { name, of, what, ...more, since });
      if (lastsMs !== undefined) endsAt.set(key, now() + lastsMs);
    },
    over: (name, of = '') => {
      known.delete(troubleKey({ name, of }));
      endsAt.delete(troubleKey({ name, of }));
    },
    current: () => {
      endThose();
      return [...known.values()];
    },
  };
};
