/** The rules of routing: where an alert goes, and why. Pure. */
import { type Alert, CHANNEL_KINDS, type ChannelKind, type Destination } from '../../alert.ts';
import type { Routes } from '../../dispatch/route.ts';
import { UsageError } from '../../errors.ts';
import { destinationId } from '../../identity.ts';
import type { ChannelEntry } from '../../item.ts';

/** What the catalog knows of a protocol when one of its alerts is routed. */
export interface ProtocolRoutes {
  /** From the service. */
  channels: readonly ChannelEntry[];
  /** Assessments whose trigger asks for a notification. */
  notifyOn: readonly string[];
}

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

const isKind = (name: string): name is ChannelKind => CHANNEL_KINDS.some((kind) => kind === name);

const toDestination = (kind: ChannelKind, address: string, labelOf: RouteSettings['labelOf']): Destination => ({
  id: destinationId(kind, address),
  kind,
  address,
  label: labelOf(kind, address),
});

const findRoutes = (entry: ChannelEntry, settings: RouteSettings): Routes => {
  const { name } = entry;
  if (!isKind(name)) return { destinations: [], problems: [`a channel of unknown kind '${name}'`] };
  if (!settings.configured.has(name)) {
    return { destinations: [], problems: [`a channel of kind '${name}', which the config does not set up`] };
  }
  const { addresses, problems } = settings.addressesOf(name, entry);
  return {
    destinations: addresses.map((address) => toDestination(name, address, settings.labelOf)),
    problems: problems.map((problem) => `${name}: ${problem}`),
  };
};

/** Kinds of channels that the config does not set up, each once. */
export const unsetKinds = (entries: readonly ChannelEntry[], { configured }: RouteSettings): string[] => [
  ...new Set(entries.map(({ name }) => name).filter((name) => !isKind(name) || !configured.has(name))),
];

const known = new WeakMap<RouteSettings, WeakMap<ChannelEntry, Routes>>();

/** An entry may name thousands of contacts, and is asked for with each alert: what was found stays for as long as it does. */
const routeEntry = (entry: ChannelEntry, settings: RouteSettings): Routes => {
  const bySettings = known.get(settings) ?? new WeakMap<ChannelEntry, Routes>();
  known.set(settings, bySettings);
  const routes = bySettings.get(entry) ?? findRoutes(entry, settings);
  bySettings.set(entry, routes);
  return routes;
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

const assessmentOf = (alert: Alert): string => alert.type.replace(/^inspection\./, '');

export const routeAlert = (alert: Alert, protocol: ProtocolRoutes, settings: RouteSettings): Routes => {
  const wanted =
    settings.triggers === 'ignore' ||
    alert.source === 'notifications' ||
    protocol.notifyOn.includes(assessmentOf(alert));
  if (!wanted) return { destinations: [], problems: [], skipped: 'trigger' };
  return routeEntries(channelsOf(alert.protocol, protocol, settings.overrides), settings);
};
