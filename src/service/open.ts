/** Opens the services that the config names: client, clock and feed of each key. */
import type { Config } from '../config/schema.ts';
import { createProxyFor } from '../connection/proxy-variables.ts';
import { type ConnectionSettings, createConnections, settingsIn } from '../connection/settings.ts';
import { createServiceClient, createServiceClock } from './client.ts';
import { createFeed } from './feed.ts';
import { createLookup } from './lookup.ts';
import type { ArrayParams } from './queries.ts';
import { createListStyles } from './styles.ts';
import type { Assessment } from './wire.ts';

interface OpenSettings {
  /** Names of what a service lists, each as `plainName` writes it. */
  listed?(service: string): Promise<ReadonlySet<string>>;
  /** Called where a service turns out to want its lists in another style than the config says. */
  onListStyle?(service: string, style: ArrayParams): void;
}

const openService = (
  config: Config,
  service: Config['services'][number],
  connection: ConnectionSettings,
  now: () => number,
  { listed, onListStyle = () => {} }: OpenSettings,
) => {
  const styles = createListStyles(service.arrayParams, (style) => onListStyle(service.name, style));
  const { concurrency: connections } = config.poll;
  const client = createServiceClient({ service, now, connections, listStyle: styles.current, connection });
  const clock = createServiceClock(now);
  const names = listed === undefined ? {} : { listed: () => listed(service.name) };
  const { assessments, harmless } = config.alerts;
  const [only, ...others] = assessments;
  const wording = {
    unknownAs: assessments.includes('critical') ? 'critical' : (only ?? 'critical'),
    harmless,
  } as const;
  const feedOf = (asked: { assessment?: Assessment }) =>
    createFeed(client, clock, { ...asked, ...names, wording }, styles);
  return {
    client,
    clock,
    /** What is polled. */
    feed: feedOf(only !== undefined && others.length === 0 ? { assessment: only } : {}),
    /** Suspicious inspections. */
    near: feedOf({ assessment: 'suspecious' }),
    /** Inspections of every assessment. */
    every: feedOf({}),
    lookUp: createLookup(client, clock, wording),
  };
};

export type Service = ReturnType<typeof openService>;

export const openServices = (
  config: Config,
  now: () => number,
  settings: OpenSettings = {},
): ReadonlyMap<string, Service> => {
  const proxyFor = createProxyFor(config.proxyVariables);
  const connectionTo = (service: Config['services'][number], index: number): ConnectionSettings => {
    const section = `services.${index}`;
    const place = { section, address: `${section}.baseUrl` };
    return createConnections(settingsIn(service), place, proxyFor)(service.baseUrl);
  };
  return new Map(
    config.services.map((service, index) => [
      service.name,
      openService(config, service, connectionTo(service, index), now, settings),
    ]),
  );
};

/** The service of a name that stands in the config. */
export const serviceIn =
  (services: ReturnType<typeof openServices>) =>
  (name: string): Service => {
    const service = services.get(name);
    if (!service) throw new Error(`no service '${name}' in the config`);
    return service;
  };
