/** How one channel kind is written to: how fast, and whether what has to wait is gathered. */
import { type ChannelKind, type Destination, destinationId, isHuman } from '../alert.ts';
import type { Config } from '../config/schema.ts';
import type { SendSlotDependencies } from '../deliver/send-slot.ts';
import { senderSubject } from '../ledger/outage-subject.ts';
import { pacedAs, rateOf } from './registry.ts';

/** What a kind's section of the config says. */
export type KindOptions = NonNullable<Config['channels'][ChannelKind]>;

/** Webhooks and incoming webhooks have nothing in common but the program that sends. */
const hasSender = ({ address }: Destination): boolean => !/^https?:/.test(address);

export interface Pacing extends Pick<SendSlotDependencies, 'paceOf' | 'senderOf'> {
  /** People read it; a program gets each alert by itself. */
  gathers: boolean;
}

export const pacingOf = (kind: ChannelKind, options: KindOptions): Pacing => ({
  paceOf: ({ id, address }) => {
    const shared = pacedAs(kind, address);
    const paced = shared === address ? id : destinationId(kind, shared);
    return { id: paced, rate: rateOf(kind, address, options.rateLimit) };
  },
  senderOf: (destination) =>
    'senderRateLimit' in options && hasSender(destination)
      ? { id: senderSubject(kind), rate: options.senderRateLimit }
      : undefined,
  gathers: isHuman({ kind }),
});
