/** What keeps an alert from a destination for now: mutes, and that nobody has approved it. */
import type { Alert, Destination } from '../../alert.ts';
import { type RoutedAlert, toParcels } from '../../dispatch/parcels.ts';
import { clockText } from '../../time.ts';
import type { ApprovalHold } from '../approval/hold.ts';
import type { IsOpen } from '../approval/policy.ts';
import type { ActiveMutes, Muted, MuteOf } from '../mutes/active.ts';

/** An alert's destinations, by what becomes of it there. */
interface SortedDestinations {
  /** Those that get it now. */
  open: Destination[];
  /** Those that get it in the report of the mute. */
  muted: Muted[];
  /** Those that get it when they are approved. */
  held: Destination[];
}

/** Mutes come first: a muted alert does not trouble the fallback, whether its destination is approved or not. */
export const sortDestinations = (
  { alert, destinations, mutedAt }: RoutedAlert,
  muteOf: MuteOf,
  isOpen: IsOpen,
): SortedDestinations => {
  const sorted: SortedDestinations = { open: [], muted: [], held: [] };
  for (const destination of destinations) {
    const mute = muteOf(alert, destination, mutedAt?.has(destination.id));
    if (mute) sorted.muted.push({ destination, mute });
    else if (isOpen(destination)) sorted.open.push(destination);
    else sorted.held.push(destination);
  }
  return sorted;
};

/**
 * Gives each alert with the destinations that get it now. Mutes and approvals are read once for all alerts; what they
 * suppress is recorded when it resolves.
 */
export const createFilter =
  (mutes: Pick<ActiveMutes, 'muteOf' | 'hide'>, approval: Pick<ApprovalHold, 'isOpen' | 'hold'>) =>
  async (alerts: readonly RoutedAlert[]): Promise<RoutedAlert[]> => {
    const [activeAtFirst, isOpen] = await Promise.all([mutes.muteOf(), approval.isOpen()]);
    let muteOf = activeAtFirst;
    const held: { alert: Alert; destinations: Destination[] }[] = [];

    const filterOne = async (routed: RoutedAlert): Promise<RoutedAlert> => {
      const sorted = sortDestinations(routed, muteOf, isOpen);
      const notHidden = await mutes.hide(routed.alert, sorted.muted);
      if (notHidden === undefined) {
        // A mute has ended meanwhile: sort again with the mutes that are left.
        muteOf = await mutes.muteOf();
        return filterOne(routed);
      }
      const notApproved = [...sorted.held, ...notHidden.filter((one) => !isOpen(one))];
      if (notApproved.length > 0) held.push({ alert: routed.alert, destinations: notApproved });
      return { ...routed, destinations: [...sorted.open, ...notHidden.filter(isOpen)] };
    };

    const filtered: RoutedAlert[] = [];
    for (const routed of alerts) filtered.push(await filterOne(routed));
    await approval.hold(toParcels(held));
    return filtered;
  };

/**
 * Says why alerts for a destination are suppressed now: for those who send a sample, which nothing suppresses. Gives a
 * sentence; undefined where alerts are sent. A mute of some detectors only is not mentioned.
 */
export const createExplainSuppression =
  (mutes: Pick<ActiveMutes, 'peekMuteOf'>, approval: Pick<ApprovalHold, 'isOpen'>) =>
  async (sample: Alert, destination: Destination): Promise<string | undefined> => {
    const [muteOf, isOpen] = await Promise.all([mutes.peekMuteOf(), approval.isOpen()]);
    // Judged as a stored notification, which has no detectors: only a mute of everything fits it.
    const mute = muteOf({ ...sample, source: 'notifications', type: 'notification.created' }, destination);
    if (mute) return `alerts for it are muted until ${clockText(mute.until)}: ${mute.reason} (${mute.id})`;
    if (isOpen(destination)) return undefined;
    return `alerts for it are held: not approved (tocsin destinations approve ${destination.id})`;
  };
