/** Composes `tocsin test`: it uses the running daemon's queue, or workers of its own where no daemon runs. */

import type { ChannelKind, Parcel } from '../alert.ts';
import { openConfiguredChannels } from '../channels/open.ts';
import { didYouMean } from '../config/problems.ts';
import type { Config } from '../config/schema.ts';
import { NoDaemonError, UsageError } from '../errors.ts';
import { createActiveMutes } from '../features/mutes/active.ts';
import { channelsOf, destinationsAt, routeEntries, routeSettings } from '../features/routes/routes.ts';
import { createCancelSample } from '../features/sample/sample.ts';
import { createExplainSuppression } from '../features/suppression/filter.ts';
import type { ListedProtocol } from '../item.ts';
import { createLogger } from '../ops/log.ts';
import { createNameFilter } from '../poll/catalog.ts';
import { listProtocols } from '../service/listing.ts';
import { openServices } from '../service/open.ts';
import { nameText } from '../text.ts';
import { openApproval } from './approval.ts';
import { commandContext } from './context.ts';
import { openDelivery } from './deliver.ts';
import { openDispatch } from './dispatch.ts';
import { attachRedis, type OpenRedis, openOwnRedis } from './redis.ts';
import { catalogOf } from './view.ts';

/** The daemon's Redis; where none runs on this data directory, a private one for the length of the test. */
const openRedis = async (config: Config, signal: AbortSignal): Promise<OpenRedis> => {
  try {
    return await attachRedis(config);
  } catch (error) {
    if (!(error instanceof NoDaemonError)) throw error;
    return openOwnRedis(config, { log: createLogger({ level: 'silent', scrub: (text) => text }), signal });
  }
};

const MOST_NAMED = 5;

const theyList = (names: readonly string[]): string => {
  if (names.length === 0) return '; they list none: tocsin protocols list shows what the key may see';
  const named = names.slice(0, MOST_NAMED).map(nameText);
  return `; they list ${named.join(', ')}${names.length > MOST_NAMED ? ' and more: tocsin protocols list' : ''}`;
};

/** A protocol as it is listed now: daemons follow that when they have announced it. Throws a `UsageError` where none is. */
const findListed = async (
  name: string,
  { protocols: { include, exclude } }: Config,
  services: ReturnType<typeof openServices>,
  signal: AbortSignal,
): Promise<ListedProtocol> => {
  const isIncluded = createNameFilter(include, exclude);
  const names: string[] = [];
  for (const service of services.values()) {
    const { protocols, unfinished } = await listProtocols(service, signal);
    const found = protocols.filter((one) => one.name === name && isIncluded(name));
    const [first] = found;
    if (first !== undefined) return { ...first, channels: found.flatMap(({ channels }) => channels) };
    if (unfinished !== undefined) throw unfinished;
    names.push(...protocols.map((one) => one.name).filter(isIncluded));
  }
  throw new UsageError(
    `no service lists a protocol '${name}' that the config includes${didYouMean(name, names) || theyList(names)}`,
  );
};

export type TestCommand = Awaited<ReturnType<typeof openTestCommand>>;

export const openTestCommand = async (config: Config, signal: AbortSignal) => {
  const redis = await openRedis(config, signal);
  const shared = commandContext(config, redis, 'fatal');
  const { store, now } = shared;
  const settings = routeSettings(config);
  const services = openServices(config, now);
  const dispatching = openDispatch(shared, catalogOf(config, redis).protocolOf);
  // What a newer daemon queued stays for it; the daemons say so.
  const { channels, close: closeChannels } = await openConfiguredChannels(config, now);
  const delivering = openDelivery(shared, { channels, dispatching, onUnknownVersion: () => {} });
  let stopWorkers = async (): Promise<void> => {};

  return {
    /** The destinations of an address given by hand. Throws a `UsageError` that says what is wrong with it. */
    address: (kind: ChannelKind, to: string) => destinationsAt(kind, to, settings),
    /** Where a protocol's alerts go, as the config and the service say, and which of its channels lead nowhere. */
    protocol: async (name: string) => {
      const entries = channelsOf(name, await findListed(name, config, services, signal), settings.overrides);
      const { destinations, problems } = routeEntries(entries, settings);
      if (destinations.length === 0) throw new UsageError(`${name}: ${problems.join('; ') || 'it has no channels'}`);
      return { destinations, problems };
    },
    send: async (parcels: readonly Parcel[]): Promise<void> => {
      const kinds = [...new Set(parcels.map(({ destination }) => destination.kind))];
      const workers = await Promise.all(kinds.map((kind) => store.queues.workers(kind)));
      if (workers.includes(0)) {
        const stop = delivering.start();
        stopWorkers = () => stop(0);
      }
      await store.ledger.recordWaiting(parcels);
      await store.queues.enqueue(parcels);
    },
    /** Why alerts for this destination are suppressed now, in a sentence; undefined where they are not. */
    explainSuppression: createExplainSuppression(
      createActiveMutes({ config, mutes: store.mutes, now }),
      openApproval(shared),
    ),
    read: store.ledger.read,
    names: store.names.all,
    /** What still waits is not sent any more. Gives the ids of the destinations where it is so. */
    cancel: createCancelSample({ ...store, now }),
    close: async (): Promise<void> => {
      await stopWorkers();
      await closeChannels();
      await Promise.all([...services.values()].map(({ client }) => client.close()));
      await store.close();
      await redis.close();
    },
  };
};
