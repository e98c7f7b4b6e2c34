/** Tells of destinations that wait for approval: once over the fallback, and their alerts go there meanwhile. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import type { Store } from '../../app/store.ts';
import { nameOf } from '../../ledger/record.ts';
import { cleanLine } from '../../text.ts';
import { createAnnounce } from '../announcements/announce.ts';
import type { Fallback } from '../fallback/fallback.ts';
import type { HeldDestination } from './store.ts';

export interface HoldAnnouncerDependencies {
  store: Pick<Store, 'held' | 'ledger' | 'queues'>;
  fallback: Pick<Fallback, 'destinations' | 'divert'>;
  log: Pick<Logger, 'warn' | 'error'>;
}

const noticeOf = (destination: Destination, isRevoked: boolean): string =>
  `Fallback: ${nameOf(destination)} ${isRevoked ? 'was revoked' : 'is new'} and waits for approval: tocsin destinations approve ${destination.id}`;

const newsOf = (destination: Destination, isRevoked: boolean, protocols: ReadonlySet<string>): string => {
  const listed = [...protocols].map(cleanLine).join(', ');
  return [
    `A ${isRevoked ? 'revoked' : 'new'} destination waits for approval: ${nameOf(destination)}`,
    `The service lists it for ${listed}. What is for it is kept, and comes to the fallback meanwhile.`,
    `To do: \`tocsin destinations approve ${destination.id}\` sends what waits. If nobody knows it, take it out at the service.`,
  ].join('\n');
};

export const createHoldAnnouncer = ({ store, fallback, log }: HoldAnnouncerDependencies) => {
  const { held } = store;
  const announce = createAnnounce(store);

  /** The same `since` is the same announcement, so that it is told once, whoever finds it and however often. */
  const tell = async ({ destination, since, isRevoked }: HeldDestination, alerts: readonly Alert[]): Promise<void> => {
    const { id, label: to } = destination;
    const protocols = new Set(alerts.map(({ protocol }) => protocol));
    const [key, message] = [`${id} ${since}`, newsOf(destination, isRevoked, protocols)];
    await announce({ about: 'destination.new', key, message }, Date.parse(since), fallback.destinations);
    await held.announced(id);
    const what = `a ${isRevoked ? 'revoked' : 'new'} destination waits for approval`;
    log.warn({ destination: id, to, protocols: [...protocols] }, what);
  };

  return async (destination: Destination, alerts: readonly Alert[]): Promise<void> => {
    const { id, label: to } = destination;
    const found = (await held.list()).find((one) => one.destination.id === id);
    if (found !== undefined && !found.isAnnounced) await tell(found, alerts);
    if (fallback.destinations.length === 0) {
      const line = { destination: id, to, alerts: alerts.length };
      log.error(line, 'held for a destination that is not approved, and there is no fallback to take it meanwhile');
      return;
    }
    const notice = (): string => noticeOf(destination, found?.isRevoked === true);
    await fallback.divert(alerts, { reason: 'held', by: `held ${id}`, notice });
  };
};
