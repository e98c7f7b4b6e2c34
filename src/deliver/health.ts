/** Keeps the circuits of a destination and its sender by how attempts end; announces when one opens or closes. */
import { type Alert, type Destination, isSample } from '../alert.ts';
import type { DeliveryError, DeliveryReason, Explanation } from '../errors.ts';
import type { Subject } from '../ledger/outage-subject.ts';
import type { Circuits } from './circuit-breaker.ts';
import type { Pace } from './send-slot.ts';

export interface Broken extends Subject {
  /** Those of the delivery that failed. */
  alerts: readonly Alert[];
  reason: DeliveryReason;
  /** Its receiver wants nothing more. */
  isDisabled?: boolean;
  /** A sentence without secrets. */
  message: string;
  /** The same for people, and what the provider answered; see `DeliveryError`. */
  explanation?: Explanation;
  said?: string;
}

export interface HealthDependencies {
  circuits: Circuits;
  /** The token or mail server that many destinations share. */
  senderOf(destination: Destination): Pace | undefined;
  /** The failure concerns the sender, not only this destination. Asked where the error says `sender-misconfigured`. */
  isSenders(destination: Destination): Promise<boolean>;
  onBroken(broken: Broken): Promise<void>;
  onRecovered(subject: Subject): Promise<void>;
  /** Milliseconds by a clock that nobody sets. Default: the process' own. */
  elapsed?(): number;
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
    failure: { error: DeliveryError; message: string; said?: string; retryInMs: number },
  ): Promise<number | undefined>;
}

/**
 * Where nothing has failed, Redis is asked once for many messages. What fails in another daemon is noticed this much
 * later, in milliseconds, and what fails here at once.
 */
const CLEAN_MS = 1000;
/** Clean circuits that a process remembers. */
const MOST_CLEAN = 10_000;

/** These concern the message or the rate; they do not say whether the destination works. */
const INCONCLUSIVE: ReadonlySet<DeliveryReason> = new Set(['rate-limited', 'bad-message', 're-address']);

/** The clean circuits that are known, by when they were looked at. */
const createCleanCircuits = ({ circuits, elapsed = () => performance.now() }: HealthDependencies) => {
  const lookedAt = new Map<string, number>();
  return {
    areKnown: (ids: readonly string[]): boolean =>
      ids.every((id) => elapsed() - (lookedAt.get(id) ?? Number.NEGATIVE_INFINITY) < CLEAN_MS),
    look: async (ids: readonly string[]): Promise<boolean> => {
      const at = elapsed();
      const areClean = await circuits.areClean(ids);
      if (lookedAt.size > MOST_CLEAN) lookedAt.clear();
      for (const id of ids) areClean ? lookedAt.set(id, at) : lookedAt.delete(id);
      return areClean;
    },
    forget: (id: string): void => void lookedAt.delete(id),
  };
};

export const createDestinationHealth = (dependencies: HealthDependencies): DestinationHealth => {
  const { circuits, senderOf, isSenders, onBroken, onRecovered } = dependencies;

  const circuitsOf = (destination: Destination): string[] => {
    const sender = senderOf(destination);
    return sender === undefined ? [destination.id] : [destination.id, sender.id];
  };

  const clean = createCleanCircuits(dependencies);

  /** Announced first, closed second: where a daemon ends in between, the same is announced again. */
  const close = async (circuit: string, destination: Destination): Promise<void> => {
    if (!(await circuits.worked(circuit))) return;
    await onRecovered({ destination, isSender: circuit !== destination.id });
    await circuits.close(circuit);
  };

  return {
    pausedUntil: async (destination) => {
      const ids = circuitsOf(destination);
      return (await clean.look(ids)) ? undefined : circuits.pausedUntil(ids);
    },
    admit: async (destination) => {
      const ids = circuitsOf(destination);
      return clean.areKnown(ids) ? undefined : circuits.admit(ids);
    },
    worked: async (destination) => {
      const ids = circuitsOf(destination);
      if (!clean.areKnown(ids)) await Promise.all(ids.map((circuit) => close(circuit, destination)));
    },
    failed: async (destination, alerts, { error, message, said, retryInMs }) => {
      const { reason, explanation } = error;
      if (INCONCLUSIVE.has(reason)) {
        await circuits.release(circuitsOf(destination));
        return undefined;
      }
      const sender = senderOf(destination);
      const isSender = sender !== undefined && reason === 'sender-misconfigured' && (await isSenders(destination));
      const circuit = isSender ? sender.id : destination.id;
      const isTest = alerts.length > 0 && alerts.every(isSample);
      clean.forget(circuit);
      const { isNews, pausedUntil } = await circuits.failed(circuit, { reason, retryInMs, isTest });
      // Whoever looked meanwhile may not have seen it.
      clean.forget(circuit);
      if (isNews) {
        const words = { message, ...(explanation && { explanation }), ...(said !== undefined && { said }) };
        await onBroken({ destination, isSender, alerts, reason, isDisabled: error.disables, ...words });
        // It has worked again meanwhile, before there was anything to take back.
        if (!(await circuits.announced(circuit))) await onRecovered({ destination, isSender });
      }
      return pausedUntil;
    },
  };
};
