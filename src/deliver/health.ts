/** Keeps the circuits of a destination and its sender by how attempts end; announces when one opens or closes. */
import { type Alert, type Destination, isSample } from '../alert.ts';
import type { DeliveryError, DeliveryReason } from '../errors.ts';
import type { Subject } from '../ledger/outage-subject.ts';
import type { Circuits } from './circuit-breaker.ts';
import type { Pace } from './send-slot.ts';

export interface Broken extends Subject {
  /** Those of the delivery that failed. */
  alerts: readonly Alert[];
  reason: DeliveryReason;
  /** A sentence without secrets. */
  message: string;
}

export interface HealthDependencies {
  circuits: Circuits;
  /** The token or mail server that many destinations share. */
  senderOf(destination: Destination): Pace | undefined;
  /** The failure concerns the sender, not only this destination. Asked where the error says `sender-misconfigured`. */
  isSenders(destination: Destination): Promise<boolean>;
  onBroken(broken: Broken): Promise<void>;
  onRecovered(subject: Subject): Promise<void>;
}

export interface DestinationHealth {
  /** When to ask again, in epoch milliseconds; undefined where the destination takes messages, as far as is known. */
  pausedUntil(destination: Destination): Promise<number | undefined>;
  /** The same just before a message is sent: of several messages for a broken destination, one may go as the probe. */
  admit(destination: Destination): Promise<number | undefined>;
  worked(destination: Destination): Promise<void>;
  /** Gives until when the destination pauses now; undefined where it does not. */
  failed(
    destination: Destination,
    alerts: readonly Alert[],
    failure: { error: DeliveryError; message: string; retryInMs: number },
  ): Promise<number | undefined>;
}

/** These concern the message or the rate; they do not say whether the destination works. */
const INCONCLUSIVE: ReadonlySet<DeliveryReason> = new Set(['rate-limited', 'bad-message', 're-address']);

export const createDestinationHealth = (dependencies: HealthDependencies): DestinationHealth => {
  const { circuits, senderOf, isSenders, onBroken, onRecovered } = dependencies;

  const circuitsOf = (destination: Destination): string[] => {
    const sender = senderOf(destination);
    return sender === undefined ? [destination.id] : [destination.id, sender.id];
  };

  /** Announced first, closed second: where a daemon ends in between, the same is announced again. */
  const close = async (circuit: string, destination: Destination): Promise<void> => {
    if (!(await circuits.worked(circuit))) return;
    await onRecovered({ destination, isSender: circuit !== destination.id });
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
      if (INCONCLUSIVE.has(reason)) {
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
        // It has worked again meanwhile, before there was anything to take back.
        if (!(await circuits.announced(circuit))) await onRecovered({ destination, isSender });
      }
      return pausedUntil;
    },
  };
};
