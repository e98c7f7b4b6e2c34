/** An operator enables a destination whose receiver wanted nothing more. */
import type { Destination } from '../../alert.ts';
import type { Circuits } from '../../deliver/circuit-breaker.ts';
import type { Disabled } from '../../deliver/disabled.ts';
import { iso } from '../../time.ts';
import type { OutageStore } from './store.ts';

export interface EnableDependencies {
  disabled: Pick<Disabled, 'find' | 'enable'>;
  circuits: Pick<Circuits, 'announceAnew'>;
  outages: Pick<OutageStore, 'enabled'>;
  now(): number;
}

/** False where it was not disabled: then nothing changes. */
export type Enable = (id: Destination['id']) => Promise<boolean>;

/** Its outage is in force no more, so nobody is sent there for nothing. Whether it is over, the next answer says. */
export const createEnable =
  ({ disabled, circuits, outages, now }: EnableDependencies): Enable =>
  async (id) => {
    if ((await disabled.find(id)) === undefined) return false;
    await outages.enabled(id, iso(now()));
    await circuits.announceAnew(id);
    // Last: where this is cut short, the same command does it all again.
    return disabled.enable(id);
  };
