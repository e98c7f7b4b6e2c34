/** Which polls go through now: what the service asked us to wait, whether it answers at all, and who may hang. */
import { ServiceError } from '../errors.ts';
import type { BackoffStore } from './backoff-store.ts';
import { createLane, type Lane } from './bulkhead.ts';
import { createGate, type Gate, type GateState } from './circuit-breaker.ts';

export interface AdmissionDependencies {
  services: readonly string[];
  /** Milliseconds between two turns of one poll. */
  everyMs: number;
  /** Polls at once, of which a quarter may be ones that had no answer last time. */
  concurrency: number;
  /** Milliseconds until the wait that the service named to this process is over; 0: none. */
  heldForMs(service: string): number;
  /** The same for all daemons. */
  backoffs: BackoffStore;
  /** One cheap question that is about the key alone. Throws `ServiceError`. */
  probe(service: string, signal: AbortSignal): Promise<void>;
  /** Told once when the key is refused, whatever is asked for. */
  onRefused(service: string, error: ServiceError): void;
  now(): number;
  /** 0 up to, not including, 1. */
  random(): number;
}

/** `againInMs`: not now, but before the next turn; left out: the next turn will do. */
export type Admission = { admitted: true } | { admitted: false; againInMs?: number };

interface Desk {
  gate: Gate;
  lane: Lane;
  /** Until then the key is known to be good, or is being asked about. */
  key: { goodUntil: number; asking?: Promise<boolean> };
}

const isUnauthorized = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.reason === 'unauthorized';

export const createAdmission = (dependencies: AdmissionDependencies) => {
  const { services, everyMs, concurrency, heldForMs, backoffs, probe, onRefused, now, random } = dependencies;
  const open = (): Desk => ({
    gate: createGate({ now, random, everyMs }),
    lane: createLane(Math.max(1, Math.floor(concurrency / 4))),
    key: { goodUntil: Number.NEGATIVE_INFINITY },
  });
  const desks = new Map(services.map((service) => [service, open()]));
  const deskOf = (service: string): Desk => {
    const desk = desks.get(service) ?? open();
    desks.set(service, desk);
    return desk;
  };

  const worked = (service: string, subject: string): void => {
    const { gate, lane } = deskOf(service);
    // What failed while the service was away was not slow by itself.
    if (gate.worked(subject)) lane.clear();
  };

  const askAboutKey = async (service: string, signal: AbortSignal): Promise<boolean> => {
    const { key, gate } = deskOf(service);
    try {
      await probe(service, signal);
      key.goodUntil = now() + everyMs;
      worked(service, 'key');
    } catch (error) {
      if (isUnauthorized(error)) {
        if (gate.refuse()) onRefused(service, error);
        return false;
      }
    }
    return gate.state() !== 'refused';
  };

  /** A refusal may be about one protocol only; the listing of protocols tells. Asked once at a time and a turn. */
  const isKeyGood = (service: string, signal: AbortSignal): Promise<boolean> => {
    const { key } = deskOf(service);
    if (now() < key.goodUntil) return Promise.resolve(true);
    key.asking ??= askAboutKey(service, signal).finally(() => {
      delete key.asking;
    });
    return key.asking;
  };

  return {
    /** May `subject` (a stream, the listing) be asked for? For each admitted one, one of the next three. */
    admit: async (service: string, subject: string, signal: AbortSignal): Promise<Admission> => {
      const { gate, lane } = deskOf(service);
      const heldMs = Math.max(heldForMs(service), await backoffs.leftMs(service));
      // In another order than the turns come, or those behind the service's limit would be the same ones every time.
      if (heldMs > 0) return { admitted: false, ...(heldMs < everyMs && { againInMs: heldMs + random() * everyMs }) };
      if (gate.admit(subject) > 0) return { admitted: false };
      if (gate.state() === 'refused' && !(await isKeyGood(service, signal))) return { admitted: false };
      return lane.enter(subject) ? { admitted: true } : { admitted: false };
    },
    /** An answer came. */
    answered: (service: string, subject: string): void => {
      deskOf(service).lane.leave(subject, true);
      worked(service, subject);
    },
    /** The service was not asked after all. */
    unasked: (service: string, subject: string): void => deskOf(service).lane.leave(subject),
    /** No usable answer came. */
    failed: async (service: string, subject: string, error: unknown, signal: AbortSignal): Promise<void> => {
      const { gate, lane } = deskOf(service);
      const failure = error instanceof ServiceError ? error : undefined;
      lane.leave(subject, failure && failure.reason !== 'unreachable');
      if (isUnauthorized(error)) await isKeyGood(service, signal);
      else if (failure && failure.retryAfterMs === undefined) gate.failed(subject, failure.reason);
      if (heldForMs(service) > 0) await backoffs.note(service, heldForMs(service));
    },
    state: (service: string): GateState => deskOf(service).gate.state(),
  };
};

export type AdmissionDesk = ReturnType<typeof createAdmission>;
