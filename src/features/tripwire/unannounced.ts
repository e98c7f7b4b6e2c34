/** What people were not told of yet, as it came too often, and what alerts must not follow meanwhile. Pure. */
import { type Change, changedAspects, isSame, type Remembered } from './changes.ts';
import { ASSET_ASPECTS, type Aspect, ROUTE_ASPECTS, type WatchedSettings } from './watched.ts';

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
  const since = present?.since;
  if (before === undefined) {
    if (after === undefined) return undefined;
    return { kind: 'new', protocol, ...(former === undefined ? {} : { before: former }), after, since };
  }
  if (after === undefined) return { kind: 'vanished', protocol, before, since };
  const aspects = changedAspects(before, after);
  return aspects.length === 0 ? undefined : { kind: 'changed', protocol, before, after, aspects, since };
};

/** Protocols of which nothing is unannounced any more, and of these the changes in sum. `present`: as they are remembered now. */
export const stayedAmong = (
  unannounced: ReadonlyMap<string, Unannounced>,
  present: (protocol: string) => Remembered | undefined,
  now: number,
) => {
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
