/** What has changed between what is remembered of a service's protocols and a listing of them. Pure. */
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
  tracking?: boolean;
  detectors?: WatchedDetector[];
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
const ASSET_ASPECTS = ['contracts', 'admins', 'privileged'] as const;
/** What decides where alerts go. */
const ROUTE_ASPECTS = ['channels', 'triggers'] as const;
/** What matters most comes first. */
export const ASPECTS = [...ROUTE_ASPECTS, 'tracking', 'admins', 'privileged', 'contracts', 'detectors'] as const;
export type Aspect = (typeof ASPECTS)[number];

export interface Remembered {
  settings: WatchedSettings;
  /** Whole listings in a row that did not have it; absent for none. */
  missed?: number;
  /** Epoch milliseconds: it has vanished. Who makes it again with other channels must not pass for its maker. */
  goneAt?: number;
  /** Epoch milliseconds: when it was seen first; absent: it was there from the first. */
  since?: number;
}

/** A new protocol has a `before` where it had vanished; one that vanished has no `after`. `since`: as of `Remembered`. */
export type Change = Pick<Remembered, 'since'> & Changed;

type Changed =
  | { kind: 'changed'; protocol: string; before: WatchedSettings; after: WatchedSettings; aspects: Aspect[] }
  | { kind: 'new'; protocol: string; before?: WatchedSettings; after: WatchedSettings }
  /** `isUnreadable`: the listing names it in an entry that cannot be read. */
  | { kind: 'vanished'; protocol: string; before: WatchedSettings; isUnreadable?: true };

export interface ComparisonInput {
  /** By protocol. */
  remembered: ReadonlyMap<string, Remembered>;
  listed: ReadonlyMap<string, WatchedSettings>;
  /** Names that the listing has in entries that cannot be read: polls do without these, as without those that it lacks. */
  unreadable: ReadonlySet<string>;
  /** What it lacks is missing: it came whole, and in its turn. */
  isWhole: boolean;
  now: number;
}

export interface Comparison {
  changes: Change[];
  /** What to remember instead; undefined where a protocol is forgotten. */
  writes: Map<string, Remembered | undefined>;
  /** Nothing is left to see in the same listing. */
  isSettled: boolean;
}

/** Whole listings in a row that must lack a protocol before it has vanished: a service may answer with a part of its list. */
export const VANISHED_AFTER = 3;
/** Protocols that have vanished and are still remembered; of more, those that vanished last. */
const MOST_GONE = 1000;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What a listing leaves out is not known, and so has not changed. */
const withKnown = (before: WatchedSettings, listed: WatchedSettings): WatchedSettings => ({ ...before, ...listed });

const changedAspects = (before: WatchedSettings, after: WatchedSettings): Aspect[] =>
  ASPECTS.filter((aspect) => before[aspect] !== undefined && !isSame(before[aspect], after[aspect]));

const sinceOf = ({ since }: Pick<Remembered, 'since'> = {}) => (since === undefined ? {} : { since });

/** A protocol that the listing lacks, or that it has in a form that nobody can read. */
const missing = (
  protocol: string,
  known: Remembered,
  isUnreadable: boolean,
  now: number,
): { change?: Change; next: Remembered } => {
  const { settings, missed = 0 } = known;
  const since = sinceOf(known);
  if (missed + 1 < VANISHED_AFTER) return { next: { settings, missed: missed + 1, ...since } };
  const change: Change = {
    ...{ kind: 'vanished', protocol, before: settings },
    ...(isUnreadable && { isUnreadable }),
    ...since,
  };
  return { change, next: { settings, goneAt: now, ...since } };
};

/** A protocol that the listing has. */
const found = (
  protocol: string,
  known: Remembered | undefined,
  listed: WatchedSettings,
  now: number,
): { change?: Change; next: Remembered } => {
  if (known === undefined) {
    const since = sinceOf({ since: now });
    return { change: { kind: 'new', protocol, after: listed, ...since }, next: { settings: listed, ...since } };
  }
  const before = known.settings;
  const after = withKnown(before, listed);
  const since = sinceOf(known);
  const next = { settings: after, ...since };
  if (known.goneAt !== undefined) return { change: { kind: 'new', protocol, before, after, ...since }, next };
  const aspects = changedAspects(before, after);
  if (aspects.length === 0) return { next };
  return { change: { kind: 'changed', protocol, before, after, aspects, ...since }, next };
};

/** Of those that have vanished, the names of which too many are remembered. */
const forgotten = (gone: readonly { name: string; goneAt?: number | undefined }[]): string[] =>
  gone
    .toSorted((a, b) => (b.goneAt ?? 0) - (a.goneAt ?? 0))
    .slice(MOST_GONE)
    .map(({ name }) => name);

export const compare = ({ remembered, listed, unreadable, isWhole, now }: ComparisonInput): Comparison => {
  const others = [...remembered].filter(([name]) => !listed.has(name));
  const absent = isWhole ? others.filter(([, { goneAt }]) => goneAt === undefined) : [];
  const outcomes = [
    ...[...listed].map(([name, settings]) => ({ name, ...found(name, remembered.get(name), settings, now) })),
    ...absent.map(([name, known]) => ({ name, ...missing(name, known, unreadable.has(name), now) })),
  ];
  const changed = outcomes.filter(({ name, next }) => !isSame(remembered.get(name), next));
  const writes = new Map<string, Remembered | undefined>(changed.map(({ name, next }) => [name, next]));
  const gone = others.map(([name, known]) => ({ name, goneAt: (writes.get(name) ?? known).goneAt }));
  for (const name of forgotten(gone.filter(({ goneAt }) => goneAt !== undefined))) writes.set(name, undefined);
  return {
    changes: outcomes.flatMap(({ change }) => change ?? []),
    writes,
    isSettled: outcomes.every(({ next: { missed } }) => missed === undefined),
  };
};

/**
 * What was changed too often to be announced each time. It is announced in sum when it has stayed so: between what people
 * heard last and what it is.
 */
export interface Unannounced {
  /** As people heard of it last; absent where they heard that it is gone. */
  announced?: WatchedSettings;
  /** As it was before it was gone, where that is known. */
  former?: WatchedSettings;
  /** Epoch milliseconds: its latest change that was not announced. */
  at: number;
}

/** What has stayed the same for so long comes and goes no more. Two listings at least, with the usual `poll.catalogEvery`. */
export const STAYED_MS = 600_000;

const unannouncedOf = (change: Change, at: number): Unannounced => {
  const { before } = change;
  if (before === undefined) return { at };
  return change.kind === 'new' ? { former: before, at } : { announced: before, at };
};

/** With a change that people hear of they know more; what they do not know yet stays. */
const afterHeard = (known: Unannounced, change: Change): Unannounced | undefined => {
  if (change.kind !== 'changed') return undefined;
  const { announced, at } = known;
  if (announced === undefined) return known;
  const news = Object.fromEntries(change.aspects.map((aspect) => [aspect, change.after[aspect]]));
  const heard = { ...announced, ...news };
  return changedAspects(heard, change.after).length === 0 ? undefined : { announced: heard, at };
};

/** What is unannounced of a protocol after one more change. */
export const afterChange = (
  known: Unannounced | undefined,
  change: Change,
  { isHeard, at }: { isHeard: boolean; at: number },
): Unannounced | undefined => {
  if (isHeard) return known === undefined ? undefined : afterHeard(known, change);
  if (known !== undefined) return { ...known, at };
  return unannouncedOf(change, at);
};

/** As it is listed; undefined where it is not. */
const settingsOf = (known: Remembered | undefined): WatchedSettings | undefined =>
  known?.goneAt === undefined ? known?.settings : undefined;

const sumOf = (
  protocol: string,
  { announced: before, former }: Unannounced,
  present: Remembered | undefined,
): Change | undefined => {
  const after = settingsOf(present);
  const since = sinceOf(present);
  if (before === undefined) {
    if (after === undefined) return undefined;
    return { kind: 'new', protocol, ...(former === undefined ? {} : { before: former }), after, ...since };
  }
  if (after === undefined) return { kind: 'vanished', protocol, before, ...since };
  const aspects = changedAspects(before, after);
  return aspects.length === 0 ? undefined : { kind: 'changed', protocol, before, after, aspects, ...since };
};

interface Stayed {
  /** Protocols of which nothing is unannounced any more. */
  protocols: string[];
  /** Of those, in sum, that are not again what people know. */
  changes: Change[];
}

/** `present`: as they are remembered now. */
export const stayedAmong = (
  unannounced: ReadonlyMap<string, Unannounced>,
  present: (protocol: string) => Remembered | undefined,
  now: number,
): Stayed => {
  // One that is missing in this listing may be about to vanish. A clock that was set back must not keep it for ever.
  const due = [...unannounced].filter(
    ([protocol, { at }]) => Math.abs(now - at) >= STAYED_MS && present(protocol)?.missed === undefined,
  );
  return {
    protocols: due.map(([protocol]) => protocol),
    changes: due.flatMap(([protocol, one]) => sumOf(protocol, one, present(protocol)) ?? []),
  };
};

interface Untold {
  /**
   * Of which protocols nobody was told where alerts go now, or that they are gone: alerts go on as people know it. With what
   * they know, where they know something.
   */
  routes: Map<string, WatchedSettings | undefined>;
  /** Of which nobody was told what their contracts are now. */
  assets: Set<string>;
}

export const untoldAmong = (
  unannounced: ReadonlyMap<string, Unannounced>,
  present: (protocol: string) => Remembered | undefined,
): Untold => {
  const untoldOf = (aspects: readonly Aspect[]) =>
    [...unannounced].filter(([protocol, { announced }]) => {
      const now = settingsOf(present(protocol));
      return aspects.some((aspect) => !isSame(announced?.[aspect], now?.[aspect]));
    });
  return {
    routes: new Map(
      untoldOf(ROUTE_ASPECTS).map(([protocol, { announced, former }]) => [protocol, announced ?? former]),
    ),
    assets: new Set(untoldOf(ASSET_ASPECTS).map(([protocol]) => protocol)),
  };
};
