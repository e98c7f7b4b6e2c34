/** Opens the services that the config names: client, clock and feed of each key. */
import type { Config } from '../config/schema.ts';
import { createProxyFor } from '../connection/proxy-variables.ts';
import { type ConnectionSettings, createConnections, settingsIn } from '../connection/settings.ts';
import { createServiceClient, createServiceClock, type ServiceClient, type ServiceClock } from './client.ts';
import { createFeed, type Feed } from './feed.ts';
import { createLookup, type Lookup } from './lookup.ts';
import type { ArrayParams } from './queries.ts';
import { createListStyles } from './styles.ts';

export interface Service {
  client: ServiceClient;
  clock: ServiceClock;
  /** What is polled. */
  feed: Feed;
  /** Suspicious inspections. */
  near: Feed;
  /** Inspections of every assessment. */
  every: Feed;
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
): ReadonlyMap<string, Service> => {
  const proxyFor = createProxyFor(config.proxyVariables);
  const connectionTo = (service: Config['services'][number], index: number): ConnectionSettings => {
    const section = `services.${index}`;
    return createConnections(
      settingsIn(service),
      { section, address: `${section}.baseUrl` },
      proxyFor,
    )(service.baseUrl);
  };
  return new Map(
    config.services.map((service, index) => {
      const styles = createListStyles(service.arrayParams, (style) => onListStyle(service.name, style));
      const { concurrency: connections } = config.poll;
      const client = createServiceClient({
        service,
        now,
        connections,
        listStyle: styles.current,
        connection: connectionTo(service, index),
      });
      const clock = createServiceClock(now);
      const [only, ...others] = config.alerts.assessments;
      const asked = only !== undefined && others.length === 0 ? { assessment: only } : {};
      const names = listed === undefined ? {} : { listed: () => listed(service.name) };
      const feed = createFeed(client, clock, { ...asked, ...names }, styles);
      const near = createFeed(client, clock, { assessment: 'suspecious', ...names }, styles);
      const every = createFeed(client, clock, names, styles);
      return [service.name, { client, clock, feed, near, every, lookUp: createLookup(client, clock) }] as const;
    }),
  );
};
