/** Who gets the news that something is broken. */
import { type Destination, isHuman } from '../../alert.ts';
import { senderId } from '../../identity.ts';
import type { OutageStore } from './store.ts';

export interface ReadersInput {
  fallback: readonly Destination[];
  /** Those that alerts of the same protocols go to. */
  routed: readonly Destination[];
  isWell(destination: Destination): boolean;
}

/** The fallback; where none of it works, people of the same protocols; where these have none that works, nobody. */
export const readersOf = ({ fallback, routed, isWell }: ReadersInput): Destination[] => {
  const first = fallback.filter(isWell);
  return first.length > 0 ? first : routed.filter((one) => isHuman(one) && isWell(one));
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
