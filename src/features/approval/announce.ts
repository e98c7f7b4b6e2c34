/** Announces a destination that waits for approval, once, to the fallback; its alerts go there meanwhile. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import { nameOf } from '../../ledger/record.ts';
import { cleanLine } from '../../text.ts';
import type { Announce } from '../announcements/announce.ts';
import type { Fallback } from '../fallback/fallback.ts';
import type { ApprovalStore, HeldDestination } from './store.ts';

export interface HoldAnnouncerDependencies {
  held: Pick<ApprovalStore, 'list' | 'announced'>;
  announce: Announce;
  fallback: Pick<Fallback, 'destinations' | 'divert'>;
  log: Pick<Logger, 'warn' | 'error'>;
}

/** A log line names at most this many protocols. */
const MOST_NAMED = 5;

const noticeOf = (destination: Destination, isRevoked: boolean): string =>
  `Fallback: ${nameOf(destination)} ${isRevoked ? 'was revoked' : 'is new'} and waits for approval: tocsin destinations approve ${destination.id}`;

const textOf = (destination: Destination, isRevoked: boolean, protocols: ReadonlySet<string>): string => {
  const listed = [...protocols].map(cleanLine).join(', ');
  return [
    `A ${isRevoked ? 'revoked' : 'new'} destination waits for approval: ${nameOf(destination)}`,
    `The service lists it for ${listed}. Alerts for it are held, and go to the fallback meanwhile.`,
    `To do: \`tocsin destinations approve ${destination.id}\` sends the held alerts. If nobody knows this destination, remove it at the service.`,
  ].join('\n');
};

export const createHoldAnnouncer = ({ held, announce, fallback, log }: HoldAnnouncerDependencies) => {
  /** The same `since` makes the same announcement: it is sent once, whichever daemon finds it and however often. */
  const announceOne = async (
    { destination, since, isRevoked }: HeldDestination,
    alerts: readonly Alert[],
  ): Promise<void> => {
    const { id, label } = destination;
    const protocols = new Set(alerts.map(({ protocol }) => protocol));
    const [key, message] = [`${id} ${since}`, textOf(destination, isRevoked, protocols)];
    await announce({ about: 'destination.new', key, message }, Date.parse(since), fallback.destinations);
    await held.announced(id);
    const what = `a ${isRevoked ? 'revoked' : 'new'} destination waits for approval`;
    const named = [...protocols].slice(0, MOST_NAMED);
    log.warn({ destination: id, to: [label], protocols: protocols.size, named }, what);
  };

  return async (destination: Destination, alerts: readonly Alert[]): Promise<void> => {
    const { id, label } = destination;
    const found = (await held.list()).find((one) => one.destination.id === id);
    if (found !== undefined && !found.isAnnounced) await announceOne(found, alerts);
    if (fallback.destinations.length === 0) {
      const line = { destination: id, to: [label], alerts: alerts.length };
      log.error(line, 'alerts are held for a destination that is not approved, and no fallback is configured');
      return;
    }
    const notice = (): string => noticeOf(destination, found?.isRevoked === true);
    await fallback.divert(alerts, { reason: 'held', by: `held ${id}`, notice });
  };
};
