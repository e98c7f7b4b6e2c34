/** Where alerts go by the config and by what the catalog knows of their protocol now. */
import type { Alert, Destination } from '../../alert.ts';
import { addressesOf, labelOf } from '../../channels/registry.ts';
import type { Config } from '../../config/schema.ts';
import { channelsOf, type RouteSettings, type Routes, routeAlert, routeEntries } from '../../dispatch/routes.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { fallbackRoutes } from '../fallback/fallback.ts';

/** What the config says of routes. */
export const routeSettings = (config: Config): RouteSettings => ({
  triggers: config.alerts.triggers,
  overrides: config.protocols.overrides,
  configured: new Set(
    (Object.keys(config.channels) as (keyof Config['channels'])[]).filter(
      (kind) => config.channels[kind] !== undefined,
    ),
  ),
  addressesOf,
  labelOf,
});

export interface RoutingDependencies {
  config: Pick<Config, 'fallback'>;
  settings: RouteSettings;
  /** What the catalog knows of an alert's protocol. */
  protocolOf(alert: Pick<Alert, 'service' | 'protocol'>): Promise<CatalogEntry | undefined>;
}

/** A protocol that no service lists. */
const UNLISTED: Pick<CatalogEntry, 'channels' | 'notifyOn'> = { channels: [], notifyOn: [] };

export const createRouting = ({ config, settings, protocolOf }: RoutingDependencies) => ({
  /** Where an alert goes, and why. */
  routesOf: async (alert: Alert): Promise<Routes> => routeAlert(alert, (await protocolOf(alert)) ?? UNLISTED, settings),
  /** Where alerts of its protocol may go: no trigger is asked, and the fallback's destinations are among them. */
  destinationsOf: async (alert: Pick<Alert, 'service' | 'protocol'>): Promise<Destination[]> => {
    const protocol = (await protocolOf(alert)) ?? UNLISTED;
    const { destinations } = routeEntries(channelsOf(alert.protocol, protocol, settings.overrides), settings);
    return [...destinations, ...fallbackRoutes(config, settings).destinations];
  },
});
