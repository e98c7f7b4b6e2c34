/** Composes the tripwire: it looks at each listing of the schedule that came whole. */
import type { Logger } from 'pino';
import type { Config } from '../config/schema.ts';
import { routeSettings } from '../features/routes/routes.ts';
import { channelsOf, routeEntries } from '../features/routes/rules.ts';
import { createTripwire } from '../features/tripwire/tripwire.ts';
import { createNameFilter } from '../poll/include.ts';
import type { Listing } from '../service/listing.ts';
import type { openDispatch } from './dispatch.ts';
import type { Store } from './store.ts';

export interface OpenTripwire {
  config: Config;
  store: Pick<Store, 'tripwire' | 'locks' | 'outageStore'>;
  dispatching: Pick<ReturnType<typeof openDispatch>, 'announce' | 'fallback' | 'isOpen'>;
  log: Logger;
  now(): number;
}

export const openTripwire = ({ config, store, dispatching, log, now }: OpenTripwire) => {
  const settings = routeSettings(config);
  const { include, exclude } = config.protocols;
  const tripwire = createTripwire({
    store: store.tripwire,
    locks: store.locks,
    outages: store.outageStore,
    announce: dispatching.announce,
    fallback: dispatching.fallback.destinations,
    destinationsAt: (protocol, channels) =>
      routeEntries(channelsOf(protocol, { channels }, settings.overrides), settings).destinations,
    isOpen: dispatching.isOpen,
    isIncluded: createNameFilter(include, exclude),
    log,
    now,
  });
  /** Services that are listed in their turn now, with what came. */
  const turns = new Map<string, Listing | undefined>();

  const look = async (service: string, listing: Listing): Promise<void> => {
    try {
      await tripwire.look(service, listing);
    } catch (error) {
      const what = 'the settings of the protocols could not be compared; trying again with the next listing';
      log.error({ service, err: error }, what);
    }
  };

  return {
    note: (service: string, listing: Listing): void => {
      if (turns.has(service)) turns.set(service, listing);
    },
    turn: async (service: string, list: () => Promise<void>): Promise<void> => {
      turns.set(service, undefined);
      try {
        await list();
        const listing = turns.get(service);
        if (listing !== undefined) await look(service, listing);
      } finally {
        turns.delete(service);
      }
    },
  };
};
