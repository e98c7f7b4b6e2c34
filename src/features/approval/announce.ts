/** Announces a destination that waits for approval, once, to the fallback; its alerts go there meanwhile. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import { TO_DO } from '../../announcement.ts';
import { nameOf, type Target } from '../../ledger/record.ts';
import { listText, nameText } from '../../text.ts';
import type { Announce } from '../announcements/announce.ts';
import type { Fallback } from '../fallback/fallback.ts';
import { type Names, NO_NAMES, withName } from '../names/show.ts';
import type { ApprovalStore, HeldDestination } from './store.ts';

export interface HoldAnnouncerDependencies {
  held: Pick<ApprovalStore, 'list' | 'announced'>;
  announce: Announce;
  fallback: Pick<Fallback, 'destinations' | 'divert'>;
  /** What providers call destinations. Default: nobody knows. */
  names?(): Promise<Names>;
  log: Pick<Logger, 'warn' | 'error'>;
}

/** A log line names at most this many protocols. */
const MOST_NAMED = 5;

const noticeOf = (destination: Target, isRevoked: boolean): string =>
  `Fallback: ${nameOf(destination)} ${isRevoked ? 'was revoked' : 'is new'} and waits for approval: tocsin destinations approve ${destination.id}`;

/** Names of the service's, in one line. */
const NAMED = 10;

export const heldText = (
  destination: Target,
  { isRevoked, protocols, held }: { isRevoked: boolean; protocols: readonly string[]; held: number },
): string => {
  const listed = listText(protocols, NAMED, nameText);
  return [
    `A ${isRevoked ? 'revoked' : 'new'} destination waits for approval: ${nameOf(destination)}.`,
    `The service lists it for ${listed}. ${held === 1 ? 'One alert for it is' : `${held} alerts for it are`} held so far, and the fallback gets what is held.`,
    `${TO_DO}if nobody of you knows it, remove it at the service, and change the API key. If you do, what is held is sent when you run: tocsin destinations approve ${destination.id}`,
  ].join('\n');
};

export const createHoldAnnouncer = ({ held, announce, fallback, names, log }: HoldAnnouncerDependencies) => {
  const named = async (destination: Destination) => withName(destination, (await names?.()) ?? NO_NAMES);

  /** The same `since` makes the same announcement: it is sent once, whichever daemon finds it and however often. */
  const announceOne = async (
    { destination, since, isRevoked }: HeldDestination,
    alerts: readonly Alert[],
  ): Promise<void> => {
    const { id, label } = destination;
    const protocols = new Set(alerts.map(({ protocol }) => protocol));
    const message = heldText(await named(destination), { isRevoked, protocols: [...protocols], held: alerts.length });
    const key = `${id} ${since}`;
    await announce({ about: 'destination.new', key, message }, Date.parse(since), fallback.destinations);
    await held.announced(id);
    const what = `a ${isRevoked ? 'revoked' : 'new'} destination waits for approval`;
    const line = { destination: id, to: [label], protocols: protocols.size };
    log.warn({ ...line, named: [...protocols].slice(0, MOST_NAMED) }, what);
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
    const text = noticeOf(await named(destination), found?.isRevoked === true);
    const notice = (): string => text;
    await fallback.divert(alerts, { reason: 'held', by: `held ${id}`, notice });
  };
};
