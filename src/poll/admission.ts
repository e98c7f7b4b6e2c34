/** Which polls go through now. It depends on the wait that the service named, on its trouble, and on who may hang. */
import type { ServiceError } from '../errors.ts';
import type { BackoffStore } from './backoff-store.ts';
import { createBulkhead } from './bulkhead.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { createFailureDetector, type Trouble } from './failure-detector.ts';
import { createKeyCheck, isUnauthorized } from './key-check.ts';

export interface AdmissionDependencies {
  services: readonly string[];
  /** Milliseconds between two turns of one poll. */
  everyMs: number;
  /** Polls at once, of which a quarter may be ones that hung last time. */
  concurrency: number;
  /** Milliseconds until the wait that the service named to this process is over; 0: none. */
  heldForMs(service: string): number;
  /** The same for all daemons. */
  backoffs: BackoffStore;
  /** One cheap question that is about the key alone. Throws `ServiceError`. */
  probe(service: string, signal: AbortSignal): Promise<void>;
  /** Called once when the key is refused, whatever is asked for. */
  onRefused(service: string, error: ServiceError): void;
  /** Milliseconds by a clock that nobody sets: no probe waits for an hour by which a clock was set back. */
  elapsed(): number;
  /** 0 up to, not including, 1. */
  random(): number;
}

/** `againInMs`: not now, but before the next turn; left out: the next turn will do. */
export type AdmitResult = { admitted: true } | { admitted: false; againInMs?: number };

const NOT_NOW: AdmitResult = { admitted: false };

/** Admission to one service. */
const admitTo = (service: string, dependencies: AdmissionDependencies) => {
  const { everyMs, concurrency, heldForMs, backoffs, probe, onRefused, elapsed: now, random } = dependencies;
  const detector = createFailureDetector(now);
  const breaker = createCircuitBreaker({ detector, now, random, everyMs });
  const bulkhead = createBulkhead(Math.max(1, Math.floor(concurrency / 4)), detector);
  const isKeyGood = createKeyCheck({
    detector,
    probe: (signal) => probe(service, signal),
    onRefused: (error) => onRefused(service, error),
    everyMs,
    now,
  });

  return {
    admit: async (subject: string, signal: AbortSignal): Promise<AdmitResult> => {
      const heldMs = Math.max(heldForMs(service), await backoffs.leftMs(service));
      // After a random delay: in the order of the turns, the same polls would hit the service's limit every time.
      if (heldMs > 0) return { ...NOT_NOW, ...(heldMs < everyMs && { againInMs: heldMs + random() * everyMs }) };
      if (breaker.admit(subject) > 0) return NOT_NOW;
      detector.asked(subject);
      if (detector.trouble()?.kind === 'refused' && !(await isKeyGood(signal))) return NOT_NOW;
      return bulkhead.enter(subject) ? { admitted: true } : NOT_NOW;
    },
    answered: (subject: string): void => {
      bulkhead.leave(subject);
      detector.worked(subject);
    },
    unasked: (subject: string): void => bulkhead.leave(subject),
    failed: async (subject: string, error: unknown, signal: AbortSignal): Promise<void> => {
      bulkhead.leave(subject);
      detector.failed(subject, error);
      if (isUnauthorized(error)) await isKeyGood(signal);
      if (heldForMs(service) > 0) await backoffs.note(service, heldForMs(service));
    },
    trouble: detector.trouble,
  };
};

export const createAdmission = (dependencies: AdmissionDependencies) => {
  const services = new Map(dependencies.services.map((service) => [service, admitTo(service, dependencies)]));
  const of = (service: string): ReturnType<typeof admitTo> => {
    const known = services.get(service) ?? admitTo(service, dependencies);
    services.set(service, known);
    return known;
  };
  return {
    /** May `subject` (a stream, the listing) be asked for? Each admitted one ends with one of the next three. */
    admit: (service: string, subject: string, signal: AbortSignal) => of(service).admit(subject, signal),
    /** An answer came. */
    answered: (service: string, subject: string): void => of(service).answered(subject),
    /** The service was not asked after all. */
    unasked: (service: string, subject: string): void => of(service).unasked(subject),
    /** No usable answer came. */
    failed: (service: string, subject: string, error: unknown, signal: AbortSignal) =>
      of(service).failed(subject, error, signal),
    /** Of the service as a whole. */
    trouble: (service: string): Trouble | undefined => of(service).trouble(),
  };
};

export type Admission = ReturnType<typeof createAdmission>;
