/** What keeps alerts from a destination at present, in words: for whoever sends there all the same, as samples are. */
import type { Alert, Destination } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import type { Config } from '../../config/schema.ts';
import type { RouteSettings } from '../../dispatch/routes.ts';
import { clockText } from '../../time.ts';
import { createApprovalHold } from '../approval/hold.ts';
import { createActiveMutes } from '../mutes/active.ts';
import { createMuteOf } from '../mutes/match.ts';

export interface ExplainSuppressionDependencies {
  config: Config;
  settings: RouteSettings;
  store: Store;
  now(): number;
}

/** Gives a sentence; undefined where nothing does. A mute of some detectors is none of all alerts, and not told. */
export const createExplainSuppression = ({ config, settings, store, now }: ExplainSuppressionDependencies) => {
  const approvalHold = createApprovalHold({ config, settings, store, now });
  const activeMutes = createActiveMutes({ config, mutes: store.mutes, now });

  return async (sample: Alert, destination: Destination): Promise<string | undefined> => {
    const muteOf = createMuteOf((await activeMutes.states()).active, config.mutes.never);
    // As a stored notification, which has no detectors, only a mute of everything there has it.
    const mute = muteOf({ ...sample, source: 'notifications', type: 'notification.created' }, destination);
    if (mute) return `alerts for it are muted until ${clockText(mute.until)}: ${mute.reason} (${mute.id})`;
    const isOpen = (await approvalHold.isOpen())(destination);
    return isOpen ? undefined : `alerts for it are held: not approved (tocsin destinations approve ${destination.id})`;
  };
};
