/**
 * The conditions that this daemon has found itself: every view shows the same ones. The part that finds one reports it,
 * once or again and again, and says when it is over.
 */
import { type Condition, type ConditionName, conditionKey } from '../condition.ts';
import { iso } from '../time.ts';

interface Details extends Partial<Pick<Condition, 'of' | 'why' | 'todo' | 'under'>> {
  /** It is over by itself when it was not reported for so long. */
  lastsMs?: number;
}

/** What is reported comes from closed sets; should it not, the list still is short: it is written every few seconds. */
const MOST = 50;

export const createConditions = ({ now }: { now(): number }) => {
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
    /**
     * `what` begins a sentence, without secrets and without a full stop. One that is reported again keeps its beginning.
     * Gives whether it is new.
     */
    report: (name: ConditionName, what: string, { of = '', lastsMs, ...more }: Details = {}): boolean => {
      endThose();
      const key = conditionKey({ name, of });
      const before = known.get(key);
      if (before === undefined && known.size >= MOST) return false;
      known.set(key, { name, of, what, ...more, since: before?.since ?? iso(now()) });
      if (lastsMs !== undefined) endsAt.set(key, now() + lastsMs);
      return before === undefined;
    },
    /** Does nothing where there was none. */
    over: (name: ConditionName, of = ''): void => {
      known.delete(conditionKey({ name, of }));
      endsAt.delete(conditionKey({ name, of }));
    },
    /** The first to begin comes first. */
    current: (): Condition[] => {
      endThose();
      return [...known.values()];
    },
  };
};

export type Conditions = ReturnType<typeof createConditions>;
