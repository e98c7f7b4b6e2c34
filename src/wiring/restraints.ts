/** What is muted or held is booked so before anything is queued; the rest goes on. */
import type { Alert, Destination } from '../alert.ts';
import { toParcels } from '../dispatch/dispatch.ts';
import { type Restraint, type Restraints, restrain } from '../dispatch/restraints.ts';
import type { Gatekeeper } from './gatekeeper.ts';
import type { Muting } from './muting.ts';

export interface RestraintDependencies {
  muting: Pick<Muting, 'muteOf' | 'hide'>;
  gatekeeper: Pick<Gatekeeper, 'isOpen' | 'hold'>;
}

/** Gives what begins a dispatch. */
export const createRestraints =
  ({ muting, gatekeeper }: RestraintDependencies) =>
  async (): Promise<Restraint> => {
    let restraints: Restraints = { muteOf: await muting.muteOf(), isOpen: await gatekeeper.isOpen() };
    const held: { alert: Alert; destinations: Destination[] }[] = [];

    const pass: Restraint['pass'] = async (alert, destinations, mutedBefore) => {
      const sorted = restrain(alert, destinations, restraints, mutedBefore);
      const onTheirWay = await muting.hide(alert, sorted.muted);
      if (onTheirWay === undefined) {
        restraints = { ...restraints, muteOf: await muting.muteOf() };
        return pass(alert, destinations, mutedBefore);
      }
      const { isOpen } = restraints;
      held.push({ alert, destinations: [...sorted.held, ...onTheirWay.filter((one) => !isOpen(one))] });
      return [...sorted.destinations, ...onTheirWay.filter(isOpen)];
    };

    return { pass, end: () => gatekeeper.hold(toParcels(held)) };
  };
