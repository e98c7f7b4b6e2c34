/** What keeps deliveries back: mutes and the gate, asked by every dispatch, and the turn that ends both. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import { toParcels } from '../../dispatch/dispatch.ts';
import type { RouteSettings } from '../../dispatch/routes.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { createHeldNews } from '../approval/announce.ts';
import { createGatekeeper, type Gatekeeper } from '../approval/hold.ts';
import type { Fallback } from '../fallback/fallback.ts';
import { createMuting, type Muting } from '../mutes/active.ts';
import { createMuteEnds } from '../mutes/expiry.ts';
import { type Restraint, type Restraints, sortDestinations } from './sort.ts';

interface RestrainDependencies {
  muting: Pick<Muting, 'muteOf' | 'hide'>;
  gatekeeper: Pick<Gatekeeper, 'isOpen' | 'hold'>;
}

/** Gives what begins a dispatch: what is muted or held is booked so before anything is queued, and the rest goes on. */
export const createRestrain =
  ({ muting, gatekeeper }: RestrainDependencies) =>
  async (): Promise<Restraint> => {
    const [muteOf, open] = await Promise.all([muting.muteOf(), gatekeeper.isOpen()]);
    let restraints: Restraints = { muteOf, isOpen: open };
    const held: { alert: Alert; destinations: Destination[] }[] = [];

    const pass: Restraint['pass'] = async (alert, destinations, mutedBefore) => {
      const sorted = sortDestinations(alert, destinations, restraints, mutedBefore);
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

export interface RestraintDependencies {
  config: Config;
  settings: RouteSettings;
  store: Store;
  metrics: Metrics;
  fallback: Pick<Fallback, 'destinations' | 'divert'>;
  log: Logger;
  now(): number;
}

export const createRestraints = ({ config, settings, store, metrics, fallback, log, now }: RestraintDependencies) => {
  const gatekeeper = createGatekeeper({
    config,
    settings,
    store,
    onHeld: createHeldNews({ store, fallback, log }),
    now,
  });
  const onMuted = (muted: readonly Destination[]): void => {
    for (const { kind, id } of muted) metrics.muted.inc({ kind, destination: id });
  };
  const muting = createMuting({ config, mutes: store.mutes, onMuted, now });
  const endMutes = createMuteEnds({
    store,
    muting,
    fallback: fallback.destinations,
    isOpen: gatekeeper.isOpen,
    isConfigured: ({ kind }) => settings.configured.has(kind),
    log,
    now,
  });

  return {
    restrain: createRestrain({ muting, gatekeeper }),
    openOf: gatekeeper.openOf,
    /** Tells of mutes that have ended, and sends what is held for destinations that are open by now. Never throws. */
    release: async (): Promise<void> => {
      try {
        await endMutes();
        await gatekeeper.releaseOpen();
      } catch (error) {
        log.error({ err: error }, 'ending mutes and sending what was held failed; trying again');
      }
    },
  };
};
