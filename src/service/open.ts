/** Opens the services that the config names: client, clock and feed of each key. */
import type { ListedAsset, ListedProtocol, MalformedItem } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import { ServiceError } from '../errors.ts';
import type { ArrayParams } from './address.ts';
import { createServiceClient, type ServiceClient } from './client.ts';
import { createServiceClock, type ServiceClock } from './clock.ts';
import { createFeed, type Feed } from './feed.ts';
import { createLookup, type Lookup } from './lookup.ts';
import { walkPages } from './paginate.ts';
import { nameOfListed, type Protocol } from './protocols.ts';
import { createListStyles } from './styles.ts';
import { type Page, readAssessment } from './wire.ts';

export interface Service {
  client: ServiceClient;
  clock: ServiceClock;
  /** What is polled. */
  feed: Feed;
  /** Suspicious inspections. */
  near: Feed;
  lookUp: Lookup;
}

export interface OpenSettings {
  /** Names of what a service lists, each as `plainName` writes it. */
  listed?(service: string): Promise<ReadonlySet<string>>;
  onListStyle?(service: string, style: ArrayParams): void;
}

/** `onListStyle` is called where a service turns out to want its lists in another style than the config says. */
export const openServices = (
  config: Config,
  now: () => number,
  { listed, onListStyle = () => {} }: OpenSettings = {},
): ReadonlyMap<string, Service> =>
  new Map(
    config.services.map((service) => {
      const styles = createListStyles(service.arrayParams, (style) => onListStyle(service.name, style));
      const { concurrency: connections } = config.poll;
      const client = createServiceClient({ service, now, connections, listStyle: styles.current });
      const clock = createServiceClock(now);
      const [only, ...others] = config.alerts.assessments;
      const asked = only !== undefined && others.length === 0 ? { assessment: only } : {};
      const names = listed === undefined ? {} : { listed: () => listed(service.name) };
      const feed = createFeed(client, clock, { ...asked, ...names }, styles);
      const near = createFeed(client, clock, { assessment: 'suspecious', ...names }, styles);
      return [service.name, { client, clock, feed, near, lookUp: createLookup(client, clock) }] as const;
    }),
  );

const NOTIFICATION = 'notification';

const toListed = ({ id, name, channels, triggers }: Protocol): ListedProtocol => ({
  name,
  ...(id === undefined ? {} : { protocolId: id }),
  channels,
  notifyOn: Object.entries(triggers)
    .filter(([, { actions }]) => actions.includes(NOTIFICATION))
    .map(([severity]) => severity),
  triggers: Object.fromEntries(
    Object.entries(triggers).map(([severity, { detectionsGroup }]) => [readAssessment(severity), detectionsGroup]),
  ),
});

type Listable = Pick<Service, 'client' | 'clock'>;

/** All pages of one key's listing. */
const walkProtocols = ({ client, clock }: Listable, hideAssets: boolean, signal: AbortSignal) =>
  walkPages(
    async (pageNumber, pageSize) => {
      const page = await client.listProtocols({ pageNumber, pageSize, ...(hideAssets ? { hideAssets } : {}) }, signal);
      clock.observe(page.serverTime);
      return page;
    },
    ({ id, name }) => id ?? name,
    { pageSize: client.pageSize },
  );

/** A listing as far as it could be read. */
export interface Listing {
  protocols: ListedProtocol[];
  /** What could not be read, or not whole, with the protocol's name as far as it has one. */
  malformed: (MalformedItem & { name: string })[];
  /** Why there may be more; absent where it was read to its end. */
  unfinished?: ServiceError;
}

export interface AssetListing {
  /** By protocol; those whose assets the service does not list are left out. */
  assets: Map<string, ListedAsset[]>;
  unfinished?: ServiceError;
}

/** Reads on until the service fails, and gives that failure. Throws it where not even the first page came. */
const readAsFar = async (
  pages: AsyncIterable<Page<Protocol>>,
  take: (page: Page<Protocol>) => void,
): Promise<{ unfinished?: ServiceError }> => {
  let hasBegun = false;
  try {
    for await (const page of pages) {
      take(page);
      hasBegun = true;
    }
  } catch (error) {
    if (!hasBegun || !(error instanceof ServiceError) || error.reason === 'aborted') throw error;
    return { unfinished: error };
  }
  return {};
};

/** Without their assets, which may be many. */
export const listProtocols = async (service: Listable, signal: AbortSignal): Promise<Listing> => {
  const protocols: ListedProtocol[] = [];
  const malformed: Listing['malformed'] = [];
  const end = await readAsFar(walkProtocols(service, true, signal), (page) => {
    protocols.push(...page.items.map(toListed));
    malformed.push(...page.malformed.map((one) => ({ ...one, name: nameOfListed(one.raw) })));
  });
  return { protocols, malformed, ...end };
};

export const listAssets = async (service: Listable, signal: AbortSignal): Promise<AssetListing> => {
  const listed = new Map<string, ListedAsset[]>();
  const end = await readAsFar(walkProtocols(service, false, signal), (page) => {
    for (const { name, assets } of page.items) if (assets !== undefined) listed.set(name, assets);
  });
  return { assets: listed, ...end };
};
