/** Where alerts go by the config and by what the catalog knows of their protocol now. */
import type { Alert, Destination } from '../../alert.ts';
import { addressesOf, labelOf } from '../../channels/registry.ts';
import type { Config } from '../../config/schema.ts';
import type { Routes } from '../../dispatch/route.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { channelsOf, type RouteSettings, routeAlert, routeEntries } from './rules.ts';

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

/** Where the fallback leads, and which of its entries lead nowhere. */
export const fallbackRoutes = ({ fallback }: Pick<Config, 'fallback'>, settings: RouteSettings): Routes => {
  const { destinations, problems } = routeEntries(fallback?.channels ?? [], settings);
  return { destinations, problems: problems.map((problem) => `fallback: ${problem}`) };
};

/** Who hears of Tocsin's own troubles: where nobody is named, those of the fallback. */
export const watchdogRoutes = (config: Pick<Config, 'watchdog' | 'fallback'>, settings: RouteSettings): Routes => {
  const { channels } = config.watchdog;
  if (channels === undefined) return { ...fallbackRoutes(config, settings), problems: [] };
  const { destinations, problems } = routeEntries(channels, settings);
  return { destinations, problems: problems.map((problem) => `watchdog: ${problem}`) };
};

export interface RoutingDependencies {
  config: Pick<Config, 'fallback'>;
  settings: RouteSettings;
  /** What the catalog knows of an alert's protocol. */
  protocolOf(
    alert: Pick<Alert, 'service' | 'protocol'>,
  ): Promise<Pick<CatalogEntry, 'channels' | 'notifyOn'> | undefined>;
}

/** A protocol that no service lists. */
const UNLISTED: Pick<CatalogEntry, 'channels' | 'notifyOn'> = { channels: [], notifyOn: [] };

export const createRouting = ({ config, settings, protocolOf }: RoutingDependencies) => ({
  /** Where an alert goes, and why. */
  routesOf: async (alert: Alert): Promise<Routes> => routeAlert(alert, (await protocolOf(alert)) ?? UNLISTED, settings),
  /** Where alerts of its protocol may go, whatever its triggers say; with the destinations of the fallback. */
  destinationsOf: async (alert: Pick<Alert, 'service' | 'protocol'>): Promise<Destination[]> => {
    const protocol = (await protocolOf(alert)) ?? UNLISTED;
    const { destinations } = routeEntries(channelsOf(alert.protocol, protocol, settings.overrides), settings);
    return [...destinations, ...fallbackRoutes(config, settings).destinations];
  },
});

/** The same routes, without destinations that may not be sent to yet. */
export const openRoutes =
  (
    routesOf: (alert: Alert) => Promise<Routes>,
    isOpen: () => Promise<(destination: Destination) => boolean>,
  ): ((alert: Alert) => Promise<Routes>) =>
  async (alert) => {
    const [routes, isNowOpen] = await Promise.all([routesOf(alert), isOpen()]);
    return { ...routes, destinations: routes.destinations.filter(isNowOpen) };
  };
