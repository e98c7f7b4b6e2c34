/** What has changed between what is remembered of a service's protocols and a whole listing of them. Pure. */
import type { WatchedSettings } from './settings.ts';

export const ASPECTS = ['channels', 'triggers', 'tracking', 'detectors'] as const;
export type Aspect = (typeof ASPECTS)[number];

export interface Remembered {
  settings: WatchedSettings;
  /** Whole listings in a row that did not have it; absent for none. */
  missed?: number;
}

/** A new protocol has no `before`, one that vanished no `after`. */
export type Change =
  | { kind: 'changed'; protocol: string; before: WatchedSettings; after: WatchedSettings; aspects: Aspect[] }
  | { kind: 'new'; protocol: string; after: WatchedSettings }
  /** `isUnreadable`: the listing names it in an entry that cannot be read. */
  | { kind: 'vanished'; protocol: string; before: WatchedSettings; isUnreadable?: true };

export interface ComparisonInput {
  /** By protocol. */
  remembered: ReadonlyMap<string, Remembered>;
  listed: ReadonlyMap<string, WatchedSettings>;
  /** Names that the listing has in entries that cannot be read: polls do without these, as without those that it lacks. */
  unreadable: ReadonlySet<string>;
}

export interface Comparison {
  changes: Change[];
  /** What to remember instead; undefined where a protocol is gone. */
  writes: Map<string, Remembered | undefined>;
  /** Nothing is left to see in the same listing. */
  isSettled: boolean;
}

/** Whole listings in a row that must lack a protocol before it has vanished: a service may answer with a part of its list. */
export const VANISHED_AFTER = 3;

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What a listing leaves out is not known, and so has not changed. */
const withKnown = (before: WatchedSettings, listed: WatchedSettings): WatchedSettings => {
  const { channels, triggers, tracking = before.tracking, detectors = before.detectors } = listed;
  return {
    channels,
    triggers,
    ...(tracking === undefined ? {} : { tracking }),
    ...(detectors === undefined ? {} : { detectors }),
  };
};

export const changedAspects = (before: WatchedSettings, after: WatchedSettings): Aspect[] =>
  ASPECTS.filter((aspect) => before[aspect] !== undefined && !isSame(before[aspect], after[aspect]));

/** A protocol that the listing lacks, or that it has in a form that nobody can read. */
const missing = (
  protocol: string,
  { settings, missed = 0 }: Remembered,
  isUnreadable: boolean,
): { change?: Change; next: Remembered | undefined } =>
  missed + 1 < VANISHED_AFTER
    ? { next: { settings, missed: missed + 1 } }
    : {
        change: { kind: 'vanished', protocol, before: settings, ...(isUnreadable && { isUnreadable }) },
        next: undefined,
      };

/** A protocol that the listing has. */
const found = (
  protocol: string,
  known: Remembered | undefined,
  listed: WatchedSettings,
): { change?: Change; next: Remembered } => {
  if (known === undefined) return { change: { kind: 'new', protocol, after: listed }, next: { settings: listed } };
  const before = known.settings;
  const after = withKnown(before, listed);
  const aspects = changedAspects(before, after);
  const next = { settings: after };
  return aspects.length === 0 ? { next } : { change: { kind: 'changed', protocol, before, after, aspects }, next };
};

export const compare = ({ remembered, listed, unreadable }: ComparisonInput): Comparison => {
  const absent = [...remembered].filter(([name]) => !listed.has(name));
  const outcomes = [
    ...[...listed].map(([name, settings]) => ({ name, ...found(name, remembered.get(name), settings) })),
    ...absent.map(([name, known]) => ({ name, ...missing(name, known, unreadable.has(name)) })),
  ];
  const writes = outcomes.filter(({ name, next }) => !isSame(remembered.get(name), next));
  return {
    changes: outcomes.flatMap(({ change }) => change ?? []),
    writes: new Map(writes.map(({ name, next }) => [name, next])),
    isSettled: absent.length === outcomes.filter(({ next }) => next === undefined).length,
  };
};
