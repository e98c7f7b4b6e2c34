/**
 * The conditions that this daemon has found itself: every view shows the same ones. The part that finds one reports it,
 * once or again and again, and says when it is over.
 */
import { type Condition, type ConditionName, conditionKey } from '../condition.ts';
import { iso } from '../time.ts';

export interface Conditions {
  /**
   * `what` begins a sentence and `why` ends it, both without secrets and without a full stop. `of` distinguishes
   * conditions of one name. One that is reported again keeps its beginning. With `lastsMs` it is over by itself when it
   * was not reported for so long. `todo`: what mends just this one.
   */
  report(
    name: ConditionName,
    what: string,
    details?: { why?: string; of?: string; todo?: string; under?: string; lastsMs?: number },
  ): void;
  /** Does nothing where there was none. */
  over(name: ConditionName, of?: string): void;
  /** The first to begin comes first. */
  current(): Condition[];
}

/** What is reported comes from closed sets; should it not, the list still is short: it is written every few seconds. */
const MOST = 50;

export const createConditions = ({ now }: { now(): number }): Conditions => {
  const known = new Map<string, Condition>();
  const endsAt = new Map<string, number>();

  const endThose = (): void => {
    for (const [key, at] of endsAt) {
      if (now() < at) continue;
      endsAt.delete(key);
      known.delete(key);
    }
  };

  return {
    report: (name, what, { of = '', lastsMs, ...more } = {}) => {
      endThose();
      const key = conditionKey({ name, of });
      if (!known.has(key) && known.size >= MOST) return;
      known.set(key, { name, of, what, ...more, since: known.get(key)?.since ?? iso(now()) });
      if (lastsMs !== undefined) endsAt.set(key, now() + lastsMs);
    },
    over: (name, of = '') => {
      known.delete(conditionKey({ name, of }));
      endsAt.delete(conditionKey({ name, of }));
    },
    current: () => {
      endThose();
      return [...known.values()];
    },
  };
};
