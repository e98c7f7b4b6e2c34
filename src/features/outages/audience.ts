/** Who gets the news that something is broken. */
import { type Destination, isHuman } from '../../alert.ts';
import { senderId } from '../../identity.ts';
import type { OutageStore } from './store.ts';

export interface ReadersInput {
  /** Who is to hear of Tocsin's own troubles, where the config says so. */
  operators?: readonly Destination[];
  fallback: readonly Destination[];
  /** Those that alerts of the same protocols go to. */
  routed: readonly Destination[];
  isWell(destination: Destination): boolean;
}

/**
 * The operators; where none of them can be reached, the fallback; then people of the same protocols; where these have
 * none that works, nobody.
 */
export const readersOf = ({ operators = [], fallback, routed, isWell }: ReadersInput): Destination[] => {
  const people = routed.filter(isHuman);
  const lists = [operators, fallback, people].map((list) => list.filter(isWell));
  return lists.find(({ length }) => length > 0) ?? [];
};

/** Which of these take nothing now, by themselves or with their sender. */
export const brokenAmong = async (
  outages: Pick<OutageStore, 'get'>,
  destinations: readonly Destination[],
): Promise<(destination: Destination) => boolean> => {
  const ids = new Set(destinations.flatMap(({ id, kind }) => [id, senderId(kind)]));
  const broken = await outages.get([...ids]);
  return ({ id, kind }) => broken.has(id) || broken.has(senderId(kind));
};

/** Those of `readersOf` that take something now. Webhooks are nobody who reads, and there may be thousands. */
export const workingReaders = async (
  outages: Pick<OutageStore, 'get'>,
  { operators = [], fallback, routed }: Omit<ReadersInput, 'isWell'>,
): Promise<Destination[]> => {
  const people = routed.filter(isHuman);
  const isBroken = await brokenAmong(outages, [...operators, ...fallback, ...people]);
  return readersOf({ operators, fallback, routed: people, isWell: (one) => !isBroken(one) });
};
