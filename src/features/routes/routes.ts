/** Where alerts go by the config and by what the catalog knows of their protocol now. */
import type { Logger } from 'pino';
import { type Alert, CHANNEL_KINDS, type ChannelKind, type Destination, isChannelKind, isHuman } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import { addressesOf, labelOf } from '../../channels/registry.ts';
import type { Config } from '../../config/schema.ts';
import type { Routes } from '../../dispatch/dispatch.ts';
import { UsageError } from '../../errors.ts';
import { type ChannelEntry, destinationId } from '../../item.ts';
import type { DeadLetters } from '../../ledger/dead-letters.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { NO_DESTINATION } from '../../ledger/record.ts';
import type { CatalogEntry } from '../../poll/catalog.ts';
import { iso } from '../../time.ts';

/** What the catalog knows of a protocol when one of its alerts is routed. */
type ProtocolRoutes = Pick<CatalogEntry, 'notifyOn'> & { channels: readonly ChannelEntry[] };

export interface RouteSettings {
  /** `honour`: an inspection is sent only where the protocol's trigger asks for it. */
  triggers: 'ignore' | 'honour';
  /** By protocol name: `channels` instead of the service's, `extraChannels` besides them. */
  overrides: Readonly<Record<string, { channels?: readonly ChannelEntry[]; extraChannels?: readonly ChannelEntry[] }>>;
  /** Kinds that the config says how to reach. */
  configured: ReadonlySet<ChannelKind>;
  addressesOf(kind: ChannelKind, entry: ChannelEntry): { addresses: string[]; problems: string[] };
  labelOf(kind: ChannelKind, address: string): string;
}

const toDestination = (kind: ChannelKind, address: string, labelOf: RouteSettings['labelOf']): Destination => ({
  id: destinationId(kind, address),
  kind,
  address,
  label: labelOf(kind, address),
});

const findRoutes = (entry: ChannelEntry, settings: RouteSettings): Routes => {
  const { name } = entry;
  if (!isChannelKind(name)) return { destinations: [], problems: [`a channel of unknown kind '${name}'`] };
  if (!settings.configured.has(name)) {
    return { destinations: [], problems: [`a channel of kind '${name}', which the config does not set up`] };
  }
  const { addresses, problems } = settings.addressesOf(name, entry);
  return {
    destinations: addresses.map((address) => toDestination(name, address, settings.labelOf)),
    problems: problems.map((problem) => `${name}: ${problem}`),
  };
};

export const unsetKinds = (entries: readonly ChannelEntry[], { configured }: RouteSettings): string[] => [
  ...new Set(entries.map(({ name }) => name).filter((name) => !isChannelKind(name) || !configured.has(name))),
];

const known = new WeakMap<RouteSettings, WeakMap<ChannelEntry, Routes>>();

/** An entry may name thousands of contacts, and is asked for with each alert: what was found stays for as long as it does. */
const routeEntry = (entry: ChannelEntry, settings: RouteSettings): Routes => {
  const bySettings = getOrCreate(known, settings, () => new WeakMap());
  return getOrCreate(bySettings, entry, () => findRoutes(entry, settings));
};

/** Of one protocol, or of the fallback: each of them has a job for each alert. Of more, the first ones are used. */
export const MOST_DESTINATIONS = 5000;

/** The destinations of a list of channel entries, each once, in their order. */
export const routeEntries = (entries: readonly ChannelEntry[], settings: RouteSettings): Routes => {
  const routes = entries.map((entry) => routeEntry(entry, settings));
  const unique = new Map(routes.flatMap(({ destinations }) => destinations).map((one) => [one.id, one]));
  const problems = routes.flatMap((one) => one.problems);
  const excess = unique.size - MOST_DESTINATIONS;
  if (excess > 0) {
    problems.push(`${unique.size} destinations: the last ${excess} get nothing, as ${MOST_DESTINATIONS} are the most`);
  }
  return { destinations: [...unique.values()].slice(0, MOST_DESTINATIONS), problems };
};

/** Where an address given by hand leads. Throws a `UsageError` that says what is wrong with it. */
export const destinationsAt = (kind: ChannelKind, to: string, settings: RouteSettings): Destination[] => {
  if (!settings.configured.has(kind)) throw new UsageError(`the config does not set up the channel kind '${kind}'`);
  const entry = /^https?:\/\//.test(to) ? { name: kind, url: to } : { name: kind, contacts: [to] };
  const { addresses, problems } = settings.addressesOf(kind, entry);
  if (addresses.length === 0) throw new UsageError(`--to: ${problems.join('; ')}`);
  return addresses.map((address) => toDestination(kind, address, settings.labelOf));
};

/** Own channels by override or from the service, then the extra ones. */
export const channelsOf = (
  protocol: string,
  { channels }: Pick<ProtocolRoutes, 'channels'>,
  overrides: RouteSettings['overrides'],
): readonly ChannelEntry[] => {
  const override = Object.hasOwn(overrides, protocol) ? overrides[protocol] : undefined;
  return [...(override?.channels ?? channels), ...(override?.extraChannels ?? [])];
};

/** What the config itself names for protocols. */
export const ownEntries = ({ overrides }: Pick<RouteSettings, 'overrides'>): ChannelEntry[] =>
  Object.values(overrides).flatMap(({ channels = [], extraChannels = [] }) => [...channels, ...extraChannels]);

const assessmentOf = (alert: Alert): string => alert.type.replace(/^inspection\./, '');

export const routeAlert = (alert: Alert, protocol: ProtocolRoutes, settings: RouteSettings): Routes => {
  const wanted =
    settings.triggers === 'ignore' ||
    alert.source === 'notifications' ||
    protocol.notifyOn.includes(assessmentOf(alert));
  if (!wanted) return { destinations: [], problems: [], skipped: 'trigger' };
  return routeEntries(channelsOf(alert.protocol, protocol, settings.overrides), settings);
};

export const routeSettings = (config: Config): RouteSettings => ({
  triggers: config.alerts.triggers,
  overrides: config.protocols.overrides,
  configured: new Set(CHANNEL_KINDS.filter((kind) => config.channels[kind] !== undefined)),
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

/** Of these people each gets every alert that nobody else can get: more of them help nobody. */
const MOST_STAND_INS = 10;

/** Who gets what the fallback cannot be sent: who hears of Tocsin's troubles, then other people whom the config names. */
export const standInRoutes = (
  config: Pick<Config, 'watchdog' | 'fallback'>,
  settings: RouteSettings,
): Destination[][] => {
  const people = routeEntries(ownEntries(settings), settings).destinations.filter(isHuman);
  const operators = config.watchdog.channels === undefined ? [] : watchdogRoutes(config, settings).destinations;
  return [operators, people.slice(0, MOST_STAND_INS)].filter(({ length }) => length > 0);
};

interface RoutingDependencies {
  config: Pick<Config, 'fallback'>;
  settings: RouteSettings;
  protocolOf(alert: Pick<Alert, 'service' | 'protocol'>): Promise<ProtocolRoutes | undefined>;
}

/** A protocol that no service lists. */
const UNLISTED: ProtocolRoutes = { channels: [], notifyOn: [] };

export const createRouting = ({ config, settings, protocolOf }: RoutingDependencies) => ({
  /** Where an alert goes, and why. */
  routesOf: async (alert: Alert): Promise<Routes> => routeAlert(alert, (await protocolOf(alert)) ?? UNLISTED, settings),
  /** Where alerts of its protocol may go, triggers aside; with the destinations of the fallback. */
  destinationsOf: async (alert: Pick<Alert, 'service' | 'protocol'>): Promise<Destination[]> => {
    const protocol = (await protocolOf(alert)) ?? UNLISTED;
    const { destinations } = routeEntries(channelsOf(alert.protocol, protocol, settings.overrides), settings);
    return [...destinations, ...fallbackRoutes(config, settings).destinations];
  },
});

/** The same routes, without destinations that may not be sent to yet. */
export const openRoutes =
  (routesOf: (alert: Alert) => Promise<Routes>, isOpen: () => Promise<(destination: Destination) => boolean>) =>
  async (alert: Alert): Promise<Routes> => {
    const [routes, isNowOpen] = await Promise.all([routesOf(alert), isOpen()]);
    return { ...routes, destinations: routes.destinations.filter(isNowOpen) };
  };

interface UnroutableDependencies {
  deadLetters: Pick<DeadLetters, 'add'>;
  ledger: Pick<Ledger, 'recordAttempt'>;
  /** Sends it to the fallback, with the reason. */
  toFallback(alert: Alert, why: string): Promise<void>;
  log: Pick<Logger, 'error'>;
  now(): number;
}

const NO_ROUTE = 'no destination';

/**
 * Ends an alert that has no destination: dead, kept, and sent to the fallback. The dead letter first and the ledger last, so that a crash in between repeats both.
 */
export const createUnroutable =
  ({ deadLetters, ledger, toFallback, log, now }: UnroutableDependencies) =>
  async (alert: Alert, problems: readonly string[]): Promise<void> => {
    const message = problems.length > 0 ? `${NO_ROUTE}: ${problems.join('; ')}` : `${NO_ROUTE}: it has no channels`;
    const end = { reason: 'no-destination', message, at: iso(now()) };
    await deadLetters.add({ alert, attempts: 0, ...end });
    await toFallback(alert, message);
    const attempt = { outcome: 'dead', durationMs: 0, ...end } as const;
    await ledger.recordAttempt(NO_DESTINATION, [alert], { state: 'dead', attempt });
    const { service, protocol, itemId } = alert;
    log.error({ service, protocol, item: itemId, reason: message }, 'alert is dead');
  };
