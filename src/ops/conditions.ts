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
  const known = new Map<string, { one: Condition; endsAt: number }>();

  const endThose = (): void => {
    for (const [key, { endsAt }] of known) if (now() >= endsAt) known.delete(key);
  };

  /**
   * `what` begins a sentence, without secrets and without a full stop. One that is reported again keeps its beginning.
   * Gives whether it is new.
   */
  const report = (name: ConditionName, what: string, { of = '', lastsMs, ...more }: Details = {}): boolean => {
    endThose();
    const key = conditionKey({ name, of });
    const before = known.get(key);
    if (before === undefined && known.size >= MOST) return false;
    const endsAt = lastsMs === undefined ? (before?.endsAt ?? Infinity) : now() + lastsMs;
    known.set(key, { one: { name, of, what, ...more, since: before?.one.since ?? iso(now()) }, endsAt });
    return before === undefined;
  };

  /** Gives whether there was one. */
  const over = (name: ConditionName, of = ''): boolean => known.delete(conditionKey({ name, of }));

  return {
    report,
    over,
    /** For who looks again and again: reports it, or ends it where nothing is said of it. */
    settle: (name: ConditionName, what: string | undefined, details: Details = {}): void => {
      if (what === undefined) over(name, details.of);
      else report(name, what, details);
    },
    /** The first to begin comes first. */
    current: (): Condition[] => {
      endThose();
      return [...known.values()].map(({ one }) => one);
    },
  };
};

export type Conditions = ReturnType<typeof createConditions>;
