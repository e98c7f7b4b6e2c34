/** What an attempt tells of its destination and of the sender behind it: kept as circuits, told when something changes. */
import { type Alert, type Destination, isSample } from '../alert.ts';
import type { DeliveryError, DeliveryReason } from '../errors.ts';
import type { Subject } from '../ledger/outage-subject.ts';
import type { Circuits } from './circuit-breaker.ts';
import type { Pace } from './send-slot.ts';

export interface Broken extends Subject {
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
  onWell(well: Subject): Promise<void>;
}

export interface DestinationHealth {
  /** Undefined: it takes messages, as far as is known. Else when to look again, in epoch milliseconds. */
  pausedUntil(destination: Destination): Promise<number | undefined>;
  /** The same just before a message is sent: of several that ask a broken destination, one gets through. */
  admit(destination: Destination): Promise<number | undefined>;
  worked(destination: Destination): Promise<void>;
  /** Gives until when the destination pauses now, if it does. */
  failed(
    destination: Destination,
    alerts: readonly Alert[],
    failure: { error: DeliveryError; message: string; retryInMs: number },
  ): Promise<number | undefined>;
}

/** These say something of the message or of the pace, not of whether the destination works. */
const TELLS_NOTHING: ReadonlySet<DeliveryReason> = new Set(['rate-limited', 'bad-message', 're-address']);

export const createDestinationHealth = (dependencies: HealthDependencies): DestinationHealth => {
  const { circuits, senderOf, isSenders, onBroken, onWell } = dependencies;

  const circuitsOf = (destination: Destination): string[] => {
    const sender = senderOf(destination);
    return sender === undefined ? [destination.id] : [destination.id, sender.id];
  };

  /** Told first, closed second: a daemon that ends in between tells the same again. */
  const close = async (circuit: string, destination: Destination): Promise<void> => {
    if (!(await circuits.worked(circuit))) return;
    await onWell({ destination, isSender: circuit !== destination.id });
    await circuits.close(circuit);
  };

  return {
    pausedUntil: (destination) => circuits.pausedUntil(circuitsOf(destination)),
    admit: (destination) => circuits.admit(circuitsOf(destination)),
    worked: async (destination) => {
      await Promise.all(circuitsOf(destination).map((circuit) => close(circuit, destination)));
    },
    failed: async (destination, alerts, { error, message, retryInMs }) => {
      const { reason } = error;
      if (TELLS_NOTHING.has(reason)) {
        await circuits.release(circuitsOf(destination));
        return undefined;
      }
      const sender = senderOf(destination);
      const isSender = sender !== undefined && reason === 'sender-misconfigured' && (await isSenders(destination));
      const circuit = isSender ? sender.id : destination.id;
      const isTest = alerts.length > 0 && alerts.every(isSample);
      const { isNews, pausedUntil } = await circuits.failed(circuit, { reason, retryInMs, isTest });
      if (isNews) {
        await onBroken({ destination, isSender, alerts, reason, message });
        // What had not been told yet could not be taken back.
        if (!(await circuits.told(circuit))) await onWell({ destination, isSender });
      }
      return pausedUntil;
    },
  };
};
