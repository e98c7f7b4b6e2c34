/** For how long this daemon has seen each trouble without a break, and for how long an announced one has been gone. */
import { type Trouble, troubleKey } from '../../trouble.ts';

type Named = Pick<Trouble, 'name' | 'of'>;

/** `elapsed`: milliseconds by a clock that nobody sets: others' clocks may be the trouble. */
export const createSightings = (elapsed: () => number) => {
  let seenSince: ReadonlyMap<string, number> = new Map();
  let goneSince: ReadonlyMap<string, number> = new Map();

  const since = (before: ReadonlyMap<string, number>, keys: readonly string[]): Map<string, number> =>
    new Map(keys.map((key) => [key, before.get(key) ?? elapsed()]));
  const forMs = (from: number | undefined): number => (from === undefined ? 0 : elapsed() - from);

  return {
    look: (current: readonly Named[], told: readonly Named[]): void => {
      const here = current.map(troubleKey);
      const gone = told.map(troubleKey).filter((key) => !here.includes(key));
      seenSince = since(seenSince, here);
      goneSince = since(goneSince, gone);
    },
    seenForMs: (key: string): number => forMs(seenSince.get(key)),
    goneForMs: (key: string): number => forMs(goneSince.get(key)),
  };
};
