/** Opens the services that the config names: client, clock and feed of each key. */
import type { ListedAsset, ListedProtocol } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import type { ArrayParams } from './address.ts';
import { createServiceClient, type ServiceClient } from './client.ts';
import { createServiceClock, type ServiceClock } from './clock.ts';
import { createFeed, type Feed } from './feed.ts';
import { createLookup, type Lookup } from './lookup.ts';
import { walkPages } from './paginate.ts';
import type { Protocol } from './protocols.ts';
import { createListStyles } from './styles.ts';
import { readAssessment } from './wire.ts';

export interface Service {
  client: ServiceClient;
  clock: ServiceClock;
  /** What is polled. */
  feed: Feed;
  /** Suspicious inspections. */
  near: Feed;
  lookUp: Lookup;
}

/** `onListStyle` is called where a service turns out to want its lists in another style than the config says. */
export const openServices = (
  config: Config,
  now: () => number,
  onListStyle: (service: string, style: ArrayParams) => void = () => {},
): ReadonlyMap<string, Service> =>
  new Map(
    config.services.map((service) => {
      const styles = createListStyles(service.arrayParams, (style) => onListStyle(service.name, style));
      const { concurrency: connections } = config.poll;
      const client = createServiceClient({ service, now, connections, listStyle: styles.current });
      const clock = createServiceClock(now);
      const [only, ...others] = config.alerts.assessments;
      const asked = only !== undefined && others.length === 0 ? { assessment: only } : {};
      const feed = createFeed(client, clock, asked, styles);
      const near = createFeed(client, clock, { assessment: 'suspecious' }, styles);
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

/** All pages of one key's listing. */
const walkProtocols = ({ client, clock }: Service, hideAssets: boolean, signal: AbortSignal) =>
  walkPages(
    async (pageNumber) => {
      const page = await client.listProtocols({ pageNumber, ...(hideAssets ? { hideAssets } : {}) }, signal);
      clock.observe(page.serverTime);
      return page;
    },
    ({ id, name }) => id ?? name,
  );

/** Without their assets, which may be many. */
export const listProtocols = async (service: Service, signal: AbortSignal): Promise<ListedProtocol[]> => {
  const listed: ListedProtocol[] = [];
  for await (const { items } of walkProtocols(service, true, signal)) listed.push(...items.map(toListed));
  return listed;
};

/** By protocol; those whose assets the service does not list are left out. */
export const listAssets = async (service: Service, signal: AbortSignal): Promise<Map<string, ListedAsset[]>> => {
  const listed = new Map<string, ListedAsset[]>();
  for await (const { items } of walkProtocols(service, false, signal)) {
    for (const { name, assets } of items) if (assets !== undefined) listed.set(name, assets);
  }
  return listed;
};
