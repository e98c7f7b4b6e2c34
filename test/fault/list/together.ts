/** Faults drawn at random, two at a time, one after the other, on three daemons. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';
import type { Stage } from '../stage.ts';

/** The faults that hold on to one daemon get any of the three. */
const turned = (stage: Stage): Stage => {
  const [first, ...others] = stage.daemons;
  const at = stage.random.below(others.length + 1);
  const chosen = at === 0 ? first : (others[at - 1] ?? first);
  return { ...stage, daemons: [chosen, ...stage.daemons.filter((daemon) => daemon !== chosen)] };
};

/** `faults`: those with a grip. */
export const togetherFault = (faults: readonly Fault[], minutes: number): Fault => ({
  name: 'together',
  what: `pairs of faults drawn at random, for ${minutes} min, on three daemons`,
  stage: { daemons: 3 },
  doubles: 'in flight',
  strike: async (stage) => {
    const { random, note } = stage;
    const pick = (from: readonly Fault[]): Fault | undefined => from[random.below(from.length)];
    const endsAt = Date.now() + minutes * 60_000;
    while (Date.now() < endsAt) {
      const first = pick(faults);
      const second = pick(faults.filter(({ grip }) => grip !== first?.grip));
      if (first === undefined || second === undefined) throw new Error('too few faults have a grip');
      note(`${first.name} and ${second.name}`);
      await Promise.all([
        first.strike(turned(stage)),
        sleep(random.below(3000)).then(() => second.strike(turned(stage))),
      ]);
      await sleep(1000 + random.below(3000));
    }
  },
});
