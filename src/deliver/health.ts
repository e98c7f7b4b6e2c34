/** What an attempt tells of its destination and of the sender behind it: kept as circuits, told when something changes. */
import type { Alert, Destination } from '../alert.ts';
import type { DeliveryError, DeliveryReason } from '../errors.ts';
import type { Circuits } from './circuit.ts';
import type { Pace } from './turn.ts';

/** What broke: one destination, or a sender and so everything it sends to. */
export interface Broken {
  destination: Destination;
  isSender: boolean;
  /** What its failing delivery was about. */
  alerts: readonly Alert[];
  reason: DeliveryReason;
  /** A sentence without secrets. */
  message: string;
}

export interface HealthDependencies {
  circuits: Circuits;
  /** The token or mail server that many destinations share. */
  senderOf(destination: Destination): Pace | undefined;
  /** The failure is the sender's, not only this destination's: asked where the error says that it is misconfigured. */
  isSenders(destination: Destination): Promise<boolean>;
  onBroken(broken: Broken): Promise<void>;
  onWell(well: { destination: Destination; isSender: boolean }): Promise<void>;
}

export interface DestinationHealth {
  /** Undefined: send. Else when to ask again, in epoch milliseconds. */
  pausedUntil(destination: Destination): Promise<number | undefined>;
  worked(destination: Destination): Promise<void>;
  failed(
    destination: Destination,
    alerts: readonly Alert[],
    failure: { error: DeliveryError; message: string; retryInMs: number },
  ): Promise<void>;
}

/** These say something of the message or of the pace, not of whether the destination works. */
const TELLS_NOTHING: ReadonlySet<DeliveryReason> = new Set(['rate-limited', 'bad-message', 're-address']);

export const createDestinationHealth = (dependencies: HealthDependencies): DestinationHealth => {
  const { circuits, senderOf, isSenders, onBroken, onWell } = dependencies;
  return {
    pausedUntil: async (destination) => {
      const sender = senderOf(destination);
      return (await circuits.ask(destination.id)) ?? (sender && (await circuits.ask(sender.id)));
    },
    worked: async (destination) => {
      const sender = senderOf(destination);
      const [own, shared] = await Promise.all([circuits.worked(destination.id), sender && circuits.worked(sender.id)]);
      if (shared) await onWell({ destination, isSender: true });
      if (own) await onWell({ destination, isSender: false });
    },
    failed: async (destination, alerts, { error, message, retryInMs }) => {
      const { reason } = error;
      if (TELLS_NOTHING.has(reason)) return;
      const sender = senderOf(destination);
      const isSender = sender !== undefined && reason === 'sender-misconfigured' && (await isSenders(destination));
      const circuit = isSender ? sender.id : destination.id;
      if (!(await circuits.failed(circuit, { reason, retryInMs }))) return;
      await onBroken({ destination, isSender, alerts, reason, message });
    },
  };
};
