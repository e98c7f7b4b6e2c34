/** What may wait until somebody has time for it, in sentences. Pure. */
import type { ChannelKind } from '../../alert.ts';
import { MOST_DEAD } from '../../ledger/dead-letters.ts';
import { nameOf } from '../../ledger/record.ts';
import { counted, listText } from '../../text.ts';
import { type HeldDestination, HOLD_BOUNDS } from '../approval/store.ts';

/** Alerts that are held for a destination, and the names of the protocols that lead there. */
export interface HeldFor {
  one: HeldDestination;
  protocols: readonly string[];
}

export interface Problems {
  /** Protocols that are not watched, other than on purpose, and why. */
  unwatched: readonly { name: string; reason: string }[];
  held: readonly HeldFor[];
  /** Jobs of channel kinds that left the config, see `features/housekeeping`. */
  left: readonly { kind: ChannelKind; jobs: number }[];
  /** Services whose protocols wait too long for the next poll. */
  slow: readonly { name: string; needed: number }[];
  /** Of the routes, in sentences. */
  routes: readonly string[];
  /** Dead letters that were removed because there were too many. */
  trimmed: number;
  quarantined: number;
}

const heldSentence = ({ one: { destination, waiting, isRevoked }, protocols }: HeldFor): string => {
  const listed = protocols.length === 0 ? '' : ` (for ${listText(protocols)})`;
  const state = `${isRevoked ? 'was revoked' : 'is new'} and waits for approval`;
  const most = waiting >= HOLD_BOUNDS.alerts ? ', which is the most: newer ones are dead' : '';
  const count = `${counted(waiting, 'alert')}${most}`;
  return `${nameOf(destination)}${listed} ${state} with ${count}: tocsin destinations approve ${destination.id}`;
};

const heldSentences = (held: readonly HeldFor[]): string[] => [
  ...held.map(heldSentence),
  ...(held.length >= HOLD_BOUNDS.destinations
    ? [`${held.length} destinations wait for approval, which is the most: alerts for others are dead`]
    : []),
];

const leftSentence = ({ kind, jobs }: Problems['left'][number]): string =>
  `${counted(jobs, 'job waits', 'jobs wait')} for ${kind}, which the config does not set up: what no daemon sends within a day is dead`;

const trimmedSentence = (trimmed: number): string =>
  `${counted(trimmed, 'dead delivery was', 'dead deliveries were')} removed lately, as ${MOST_DEAD} are kept at most: tocsin replay sends their items again`;

const slowSentence = ({ name, needed }: Problems['slow'][number]): string =>
  `${name}: its protocols are read less than every 15 seconds; poll.requestsPerSecond: ${needed} would suffice`;

/** The worst first. */
export const problemSentences = ({ unwatched, held, left, slow, routes, trimmed, quarantined }: Problems): string[] => [
  ...unwatched.map(({ name, reason }) => `${name}: ${reason}`),
  ...heldSentences(held),
  ...left.filter(({ jobs }) => jobs > 0).map(leftSentence),
  ...slow.map(slowSentence),
  ...routes,
  ...(trimmed === 0 ? [] : [trimmedSentence(trimmed)]),
  ...(quarantined === 0 ? [] : [`${counted(quarantined, 'item')} of the service could not be understood`]),
];
