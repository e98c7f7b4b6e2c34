/** Tells of destinations that wait for approval: once over the fallback, and their alerts go there meanwhile. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../alert.ts';
import { cleanLine } from '../channels/text.ts';
import { nameOf } from '../deliver/record.ts';
import { createAnnounce } from './announce.ts';
import type { Fallback } from './fallback.ts';
import type { Store } from './store.ts';

export interface HeldNewsDependencies {
  store: Pick<Store, 'held' | 'ledger' | 'queues'>;
  fallback: Pick<Fallback, 'destinations' | 'divert'>;
  log: Pick<Logger, 'warn' | 'error'>;
}

const noticeOf = (destination: Destination): string =>
  `Fallback: ${nameOf(destination)} is new and waits for approval: tocsin destinations approve ${destination.id}`;

const newsOf = (destination: Destination, protocols: ReadonlySet<string>): string => {
  const listed = [...protocols].map(cleanLine).join(', ');
  return [
    `A new destination waits for approval: ${nameOf(destination)}`,
    `The service lists it for ${listed}. What is for it is kept, and comes to the fallback meanwhile.`,
    `To do: \`tocsin destinations approve ${destination.id}\` sends what waits. If nobody knows it, take it out at the service.`,
  ].join('\n');
};

export const createHeldNews = ({ store, fallback, log }: HeldNewsDependencies) => {
  const { held } = store;
  const announce = createAnnounce(store);

  /** The same `since` is the same announcement, so that it is told once, whoever finds it and however often. */
  const tell = async (destination: Destination, alerts: readonly Alert[]): Promise<void> => {
    const { id, label: to } = destination;
    const found = (await held.list()).find((one) => one.destination.id === id);
    if (found === undefined || found.isAnnounced) return;
    const protocols = new Set(alerts.map(({ protocol }) => protocol));
    const [key, message] = [`${id} ${found.since}`, newsOf(destination, protocols)];
    await announce({ about: 'destination.new', key, message }, Date.parse(found.since), fallback.destinations);
    await held.announced(id);
    log.warn({ destination: id, to, protocols: [...protocols] }, 'a new destination waits for approval');
  };

  return async (destination: Destination, alerts: readonly Alert[]): Promise<void> => {
    await tell(destination, alerts);
    const { id, label: to } = destination;
    if (fallback.destinations.length === 0) {
      const line = { destination: id, to, alerts: alerts.length };
      log.error(line, 'held for a destination that is not approved, and there is no fallback to take it meanwhile');
      return;
    }
    const notice = (): string => noticeOf(destination);
    await fallback.divert(alerts, { reason: 'held', by: `held ${id}`, notice });
  };
};
