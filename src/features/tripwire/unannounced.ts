/**
 * What was changed too often to be announced each time. It is announced in sum when it has stayed so: between what people
 * heard last and what it is. Pure. `told` is the name that Redis has.
 */
import { type Change, changedAspects, type Remembered } from './changes.ts';
import type { WatchedSettings } from './settings.ts';

export interface Unannounced {
  /** As people heard of it last; absent where they heard that it is gone. */
  told?: WatchedSettings;
  /** Epoch milliseconds: its latest change that was not announced. */
  at: number;
}

/** What has stayed the same for so long comes and goes no more. Two listings at least, with the usual `poll.catalogEvery`. */
export const STAYED_MS = 600_000;

const unannouncedOf = (told: WatchedSettings | undefined, at: number): Unannounced => ({
  ...(told === undefined ? {} : { told }),
  at,
});

/** With a change that people hear of they know more; what they do not know yet stays. */
const afterHeard = (known: Unannounced, change: Change): Unannounced | undefined => {
  if (change.kind !== 'changed') return undefined;
  const { told, at } = known;
  if (told === undefined) return known;
  const news = Object.fromEntries(change.aspects.map((aspect) => [aspect, change.after[aspect]]));
  const heard = { ...told, ...news };
  return changedAspects(heard, change.after).length === 0 ? undefined : unannouncedOf(heard, at);
};

/** What is unannounced of a protocol after one more change. */
export const afterChange = (
  known: Unannounced | undefined,
  change: Change,
  { isHeard, at }: { isHeard: boolean; at: number },
): Unannounced | undefined => {
  if (isHeard) return known === undefined ? undefined : afterHeard(known, change);
  if (known !== undefined) return { ...known, at };
  return unannouncedOf(change.kind === 'new' ? undefined : change.before, at);
};

const sumOf = (
  protocol: string,
  before: WatchedSettings | undefined,
  after: WatchedSettings | undefined,
): Change | undefined => {
  if (before === undefined) return after === undefined ? undefined : { kind: 'new', protocol, after };
  if (after === undefined) return { kind: 'vanished', protocol, before };
  const aspects = changedAspects(before, after);
  return aspects.length === 0 ? undefined : { kind: 'changed', protocol, before, after, aspects };
};

export interface Stayed {
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
    changes: due.flatMap(([protocol, { told }]) => sumOf(protocol, told, present(protocol)?.settings) ?? []),
  };
};
