/** What keeps deliveries back: mutes and the gate, asked by every dispatch, and the turn that ends both. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import type { RouteSettings } from '../../dispatch/routes.ts';
import { muteFacts } from '../../mute-text.ts';
import type { Metrics } from '../../ops/metrics.ts';
import { createHoldAnnouncer } from '../approval/announce.ts';
import { type ApprovalHold, createApprovalHold } from '../approval/hold.ts';
import type { Fallback } from '../fallback/fallback.ts';
import { type ActiveMutes, createActiveMutes } from '../mutes/active.ts';
import { createMuteExpiry } from '../mutes/expiry.ts';
import { type Restraint, type Restraints, sortDestinations } from './sort.ts';

interface RestrainDependencies {
  activeMutes: Pick<ActiveMutes, 'muteOf' | 'hide'>;
  approvalHold: Pick<ApprovalHold, 'isOpen' | 'hold'>;
}

/** Gives what begins a dispatch: what is muted or held is booked so before anything is queued, and the rest goes on. */
export const createRestrain =
  ({ activeMutes, approvalHold }: RestrainDependencies) =>
  async (): Promise<Restraint> => {
    const [muteOf, open] = await Promise.all([activeMutes.muteOf(), approvalHold.isOpen()]);
    let restraints: Restraints = { muteOf, isOpen: open };
    const held: { alert: Alert; destinations: Destination[] }[] = [];

    const pass: Restraint['pass'] = async (alert, destinations, mutedBefore) => {
      const sorted = sortDestinations(alert, destinations, restraints, mutedBefore);
      const onTheirWay = await activeMutes.hide(alert, sorted.muted);
      if (onTheirWay === undefined) {
        restraints = { ...restraints, muteOf: await activeMutes.muteOf() };
        return pass(alert, destinations, mutedBefore);
      }
      const { isOpen } = restraints;
      held.push({ alert, destinations: [...sorted.held, ...onTheirWay.filter((one) => !isOpen(one))] });
      return [...sorted.destinations, ...onTheirWay.filter(isOpen)];
    };

    return { pass, end: () => approvalHold.hold(toParcels(held)) };
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
  const approvalHold = createApprovalHold({
    config,
    settings,
    store,
    onHeld: createHoldAnnouncer({ store, fallback, log }),
    now,
  });
  const onMuted = (muted: readonly Destination[]): void => {
    for (const { kind, id } of muted) metrics.muted.inc({ kind, destination: id });
  };
  const activeMutes = createActiveMutes({
    config,
    mutes: store.mutes,
    onOpened: (mute) => store.operatorLog.record({ action: 'mute-begun', ...muteFacts(mute) }),
    onMuted,
    now,
  });
  const expireMutes = createMuteExpiry({
    store,
    activeMutes,
    fallback: fallback.destinations,
    isOpen: approvalHold.isOpen,
    isConfigured: ({ kind }) => settings.configured.has(kind),
    log,
    now,
  });

  return {
    restrain: createRestrain({ activeMutes, approvalHold }),
    openOf: approvalHold.openOf,
    /** Tells of mutes that have ended, and sends what is held for destinations that are open by now. Never throws. */
    release: async (): Promise<void> => {
      try {
        await expireMutes();
        await approvalHold.releaseOpen();
      } catch (error) {
        log.error({ err: error }, 'ending mutes and sending what was held failed; trying again');
      }
    },
  };
};
