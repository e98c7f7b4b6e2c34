/** Rate limits: each destination has its own, and all that share a sender have the sender's as well. */
import type { Destination } from '../alert.ts';
import { destinationId, senderId } from '../identity.ts';
import type { RateLimit } from './options.ts';
import { rateOf, sharesRateWith, sharesSender } from './registry.ts';

/** What a kind's section of the config says of rates. */
export interface RateOptions {
  rateLimit: RateLimit;
  /** Only where a kind has a sender. */
  senderRateLimit?: RateLimit;
  /** Only where messages of a kind wait for more. */
  groupWait?: number;
}

/** A rate, and the id under which messages count towards it. */
export interface Pace {
  id: string;
  rate: RateLimit;
}

export interface Pacing {
  paceOf(destination: Destination): Pace;
  /** Undefined where the destination shares no sender with others. */
  senderOf(destination: Destination): Pace | undefined;
  /** How long messages wait for more, in milliseconds. */
  groupWaitMs: number;
}

export const pacingOf = ({ rateLimit, senderRateLimit, groupWait = 0 }: RateOptions): Pacing => ({
  paceOf: (destination) => {
    const { id, kind, address } = destination;
    const shared = sharesRateWith(destination);
    return { id: shared === address ? id : destinationId(kind, shared), rate: rateOf(destination, rateLimit) };
  },
  senderOf: (destination) =>
    senderRateLimit !== undefined && sharesSender(destination)
      ? { id: senderId(destination.kind), rate: senderRateLimit }
      : undefined,
  groupWaitMs: groupWait,
});
