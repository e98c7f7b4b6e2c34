/** What has changed between what is remembered of a service's protocols and a listing of them. Pure. */
import { ASPECTS, type Aspect, type WatchedSettings } from './watched.ts';

export interface Remembered {
  settings: WatchedSettings;
  /** Whole listings in a row that did not have it; absent for none. */
  missed?: number;
  /** Epoch milliseconds: it has vanished. Who makes it again with other channels must not pass for its maker. */
  goneAt?: number;
  /** Epoch milliseconds: when it was seen first; absent: it was there from the first. */
  since?: number | undefined;
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

export const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/**
 * Assets come with a listing of their own: where it lacks them they are not known, and so have not changed. What else was
 * listed and is not any more has changed: many services leave out what is empty or false.
 */
const withKnown = (before: WatchedSettings, listed: WatchedSettings): WatchedSettings => ({
  ...before,
  ...{ tracking: undefined, detectors: undefined },
  ...listed,
});

/** An empty list says as much as none. */
const saidBy = (value: WatchedSettings[Aspect]) => (Array.isArray(value) && value.length === 0 ? undefined : value);

export const changedAspects = (before: WatchedSettings, after: WatchedSettings): Aspect[] =>
  ASPECTS.filter((aspect) => before[aspect] !== undefined && !isSame(saidBy(before[aspect]), saidBy(after[aspect])));

/** A protocol that the listing lacks, or that it has in a form that nobody can read. */
const missing = (
  protocol: string,
  known: Remembered,
  isUnreadable: boolean,
  now: number,
): { change?: Change; next: Remembered } => {
  const { settings, missed = 0, since } = known;
  if (missed + 1 < VANISHED_AFTER) return { next: { settings, missed: missed + 1, since } };
  const change: Change = { kind: 'vanished', protocol, before: settings, since, ...(isUnreadable && { isUnreadable }) };
  return { change, next: { settings, goneAt: now, since } };
};

/** A protocol that the listing has. */
const found = (
  protocol: string,
  known: Remembered | undefined,
  listed: WatchedSettings,
  now: number,
): { change?: Change; next: Remembered } => {
  if (known === undefined) {
    return { change: { kind: 'new', protocol, after: listed, since: now }, next: { settings: listed, since: now } };
  }
  const before = known.settings;
  const after = withKnown(before, listed);
  const { since } = known;
  const next = { settings: after, since };
  if (known.goneAt !== undefined) return { change: { kind: 'new', protocol, before, after, since }, next };
  const aspects = changedAspects(before, after);
  if (aspects.length === 0) return { next };
  return { change: { kind: 'changed', protocol, before, after, aspects, since }, next };
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
