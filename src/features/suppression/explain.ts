/** Says why alerts for a destination are suppressed now: for those who send a sample, which nothing suppresses. */
import type { Alert, Destination } from '../../alert.ts';
import { clockText } from '../../time.ts';
import type { ApprovalHold } from '../approval/hold.ts';
import type { ActiveMutes } from '../mutes/active.ts';

export interface ExplainSuppressionDependencies {
  mutes: Pick<ActiveMutes, 'peekMuteOf'>;
  approval: Pick<ApprovalHold, 'isOpen'>;
}

/** Gives a sentence; undefined where alerts are sent. A mute of some detectors only is not mentioned. */
export const createExplainSuppression =
  ({ mutes, approval }: ExplainSuppressionDependencies) =>
  async (sample: Alert, destination: Destination): Promise<string | undefined> => {
    const [muteOf, isOpen] = await Promise.all([mutes.peekMuteOf(), approval.isOpen()]);
    // Judged as a stored notification, which has no detectors: only a mute of everything fits it.
    const mute = muteOf({ ...sample, source: 'notifications', type: 'notification.created' }, destination);
    if (mute) return `alerts for it are muted until ${clockText(mute.until)}: ${mute.reason} (${mute.id})`;
    if (isOpen(destination)) return undefined;
    return `alerts for it are held: not approved (tocsin destinations approve ${destination.id})`;
  };
