/** What is watched of a protocol, in one form however it is listed: in which order, in how many entries, how large. Pure. */
import type { JsonValue } from '../../alert.ts';
import { type ChannelEntry, contentId, type ListedAsset } from '../../item.ts';
import type { ListedSettings } from '../../service/listing.ts';
import type { Detector, Trigger } from '../../service/protocols.ts';
import { beginningOf } from '../../text.ts';

export interface WatchedDetector {
  name: string;
  /** As JSON. */
  config?: string;
  external?: boolean;
}

export interface WatchedSettings {
  channels: ChannelEntry[];
  /** By severity. */
  triggers: Record<string, Trigger>;
  /** Absent while the service has not said, likewise below. */
  tracking?: boolean | undefined;
  detectors?: WatchedDetector[] | undefined;
  /** In words, sorted. They come with a listing of their own. */
  contracts?: string[];
  admins?: string[];
  privileged?: string[];
}

/** A detector's config is kept so far; of what is longer, enough to see that it changed. */
const MOST_CONFIG = 400;

const unique = (texts: Iterable<string>): string[] => [...new Set(texts)].toSorted();

const byJson = <T>(all: readonly T[]): T[] => {
  const keyed = new Map(all.map((one) => [JSON.stringify(one), one]));
  return [...keyed].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
};

/** One entry a kind with all of its contacts, and one for each URL. */
const watchedChannels = (channels: readonly ChannelEntry[]): ChannelEntry[] => {
  const names = unique(channels.map(({ name }) => name));
  return names.flatMap((name): ChannelEntry[] => {
    const own = channels.filter((channel) => channel.name === name);
    const contacts = unique(own.flatMap((channel) => channel.contacts ?? []));
    const urls = unique(own.flatMap(({ url }) => url ?? []));
    const entries = [...(contacts.length > 0 ? [{ name, contacts }] : []), ...urls.map((url) => ({ name, url }))];
    return entries.length > 0 ? entries : [{ name }];
  });
};

const watchedTriggers = (triggers: readonly (readonly [string, Trigger])[]): Record<string, Trigger> => {
  const severities = Map.groupBy(triggers, ([severity]) => severity);
  const sorted = [...severities].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([severity, all]) => {
      const detectionsGroup = byJson(all.flatMap(([, trigger]) => trigger.detectionsGroup.map(unique)));
      return [severity, { detectionsGroup, actions: unique(all.flatMap(([, { actions }]) => actions)) }];
    }),
  );
};

/** Keys in one order, so that the same config is the same text. */
const sortedKeys = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(sortedKeys);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((key) => [key, sortedKeys(value[key] ?? null)]),
  );
};

const configText = (config: JsonValue): string => {
  const text = JSON.stringify(sortedKeys(config));
  return text.length <= MOST_CONFIG
    ? text
    : `${beginningOf(text, MOST_CONFIG)}… (${text.length} characters, ${contentId(text).slice(0, 8)})`;
};

const watchedDetectors = (detectors: readonly Detector[]): WatchedDetector[] =>
  byJson(
    detectors.map(({ name, config, external }) => ({
      name,
      ...(config === undefined ? {} : { config: configText(config) }),
      ...(external === undefined ? {} : { external }),
    })),
  );

/** Rows of one aspect that are kept; of more, enough to see that they changed. */
const MOST_ASSET_ROWS = 500;

const rowsKept = (rows: readonly string[]): string[] => {
  const all = unique(rows);
  const rest = all.slice(MOST_ASSET_ROWS);
  if (rest.length === 0) return all;
  return [...all.slice(0, MOST_ASSET_ROWS), `${rest.length} others (${contentId(...rest).slice(0, 8)})`];
};

/** What is listed of a protocol's contracts. */
export const watchedAssets = (
  assets: readonly ListedAsset[],
): Pick<WatchedSettings, (typeof ASSET_ASPECTS)[number]> => {
  const placeOf = ({ address, chainId }: ListedAsset): string =>
    chainId === undefined ? address : `${address} on chain ${chainId}`;
  const of = (list: 'admins' | 'privileged') =>
    rowsKept(assets.flatMap((one) => (one[list] ?? []).map((word) => `${word} of ${placeOf(one)}`)));
  const contracts = assets.map((one) => (one.name === undefined ? placeOf(one) : `${one.name} ${placeOf(one)}`));
  return { contracts: rowsKept(contracts), admins: of('admins'), privileged: of('privileged') };
};

/** Of one name. Where a service lists several protocols of it, what any of them has counts. */
export const watchedOf = (listed: readonly ListedSettings[]): WatchedSettings => {
  const tracked = listed.flatMap(({ tracking }) => tracking ?? []);
  const detectors = listed.flatMap((one) => one.detectors ?? []);
  const hasDetectors = listed.some((one) => one.detectors !== undefined);
  return {
    channels: watchedChannels(listed.flatMap(({ channels }) => channels)),
    triggers: watchedTriggers(listed.flatMap(({ triggers }) => Object.entries(triggers))),
    ...(tracked.length === 0 ? {} : { tracking: tracked.every(Boolean) }),
    ...(hasDetectors ? { detectors: watchedDetectors(detectors) } : {}),
  };
};

/** What decides how a transaction is judged in messages. */
export const ASSET_ASPECTS = ['contracts', 'admins', 'privileged'] as const;
/** What decides where alerts go. */
export const ROUTE_ASPECTS = ['channels', 'triggers'] as const;
/** What matters most comes first. */
export const ASPECTS = [...ROUTE_ASPECTS, 'tracking', 'admins', 'privileged', 'contracts', 'detectors'] as const;
export type Aspect = (typeof ASPECTS)[number];
