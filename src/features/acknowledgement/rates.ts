/** How many presses within a minute have any effect: each asks Redis, and the platform, whose patience alerts need. */

const MINUTE_MS = 60_000;

/** Of one person, and of all together. */
export interface MostAMinute {
  each: number;
  all: number;
}

export const PRESSES: MostAMinute = { each: 20, all: 600 };

/** Of presses beyond these, so many are told that they did nothing. */
export const TOLD: MostAMinute = { each: 1, all: 30 };

/** Gives what counts one of this person's; false where there were too many. Those that are refused do not count. */
export const createPressRates = (now: () => number, most: MostAMinute): ((person: string) => boolean) => {
  let counted: { person: string; at: number }[] = [];
  return (person) => {
    counted = counted.filter(({ at }) => Math.abs(now() - at) < MINUTE_MS);
    const own = counted.filter((one) => one.person === person).length;
    if (counted.length >= most.all || own >= most.each) return false;
    counted.push({ person, at: now() });
    return true;
  };
};
