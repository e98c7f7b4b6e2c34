/** May a service be asked now? By the wait that it named, by its trouble as a whole, by its key, and by who may hang. */
import type { Cluster, Redis } from 'ioredis';
import { ServiceError } from '../errors.ts';
import { createFailureDetector, type FailureDetector, type Trouble } from './failure-detector.ts';

// Waits that a service named. They are in Redis, so they hold for every daemon, also after a restart.

interface BackoffStore {
  /** The service must not be asked for this many milliseconds from now. */
  note(service: string, waitMs: number): Promise<void>;
  /** Milliseconds until it may be asked again; 0: now. */
  leftMs(service: string): Promise<number>;
}

/** Redis forgets a wait a little after its end, as clocks differ. */
const SLACK_MS = 60_000;

interface Seen {
  until: number;
  at: number;
}

/** `now` gives epoch milliseconds. A wait moves with this daemon's clock where that is set back. */
export const createBackoffStore = (redis: Redis | Cluster, prefix: string, now: () => number): BackoffStore => {
  const keyOf = (service: string): string => `${prefix}:hold:${service}`;
  /** The wait of each service as it was seen last: the same wait, seen at an earlier time, is longer by that. */
  const last = new Map<string, Seen>();

  const set = async (service: string, waitMs: number): Promise<void> => {
    await redis.set(keyOf(service), Math.ceil(now() + waitMs), 'PX', Math.ceil(waitMs + SLACK_MS));
  };

  const leftMs = async (service: string): Promise<number> => {
    const until = Number((await redis.get(keyOf(service))) ?? 0);
    const at = now();
    const before = last.get(service);
    last.set(service, { until, at });
    if (until <= at || before?.until !== until || before.at <= at) return Math.max(0, until - at);
    const waitMs = Math.max(0, until - before.at);
    await set(service, waitMs);
    return waitMs;
  };
  return {
    note: async (service, waitMs) => {
      if ((await leftMs(service)) < waitMs) await set(service, waitMs);
    },
    leftMs,
  };
};

/**
 * So old a wait may be: a poll that finds nothing new asks Redis nothing. A daemon that does not know of it yet is told by
 * the service itself.
 */
const FRESH_MS = 5000;

/** Asks Redis once in a while, however many polls ask. `elapsed`: milliseconds by a clock that nobody sets. */
export const rememberWaits = (store: BackoffStore, elapsed: () => number): BackoffStore => {
  const asked = new Map<string, { at: number; leftMs: Promise<number> }>();
  return {
    note: async (service, waitMs) => {
      asked.delete(service);
      await store.note(service, waitMs);
    },
    leftMs: async (service) => {
      const before = asked.get(service);
      const isFresh = before !== undefined && elapsed() - before.at < FRESH_MS;
      const now = isFresh ? before : { at: elapsed(), leftMs: store.leftMs(service) };
      asked.set(service, now);
      now.leftMs.catch(() => asked.delete(service));
      return Math.max(0, (await now.leftMs) - (elapsed() - now.at));
    },
  };
};

// Distinguishes a refused key from a refused protocol by one cheap question that is about the key alone.

export interface KeyCheckDependencies {
  detector: Pick<FailureDetector, 'worked' | 'refused' | 'trouble'>;
  /** The question. Throws `ServiceError`. */
  probe(signal: AbortSignal): Promise<void>;
  /** Called once when the key is refused, whatever is asked for. */
  onRefused(error: ServiceError): void;
  /** An answer counts for this many milliseconds. */
  everyMs: number;
  now(): number;
}

/** What is asked for, to the failure detector. */
const KEY = 'key';

const isUnauthorized = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.reason === 'unauthorized';

/** Gives whether the key is good, as far as is known. One question at a time. */
export const createKeyCheck = ({ detector, probe, onRefused, everyMs, now }: KeyCheckDependencies) => {
  let goodUntil = Number.NEGATIVE_INFINITY;
  let asking: Promise<boolean> | undefined;

  const ask = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await probe(signal);
      goodUntil = now() + everyMs;
      detector.worked(KEY);
    } catch (error) {
      if (isUnauthorized(error)) {
        if (detector.refused()) onRefused(error);
        return false;
      }
    }
    return detector.trouble()?.kind !== 'refused';
  };

  return async (signal: AbortSignal): Promise<boolean> => {
    if (now() < goodUntil) return true;
    asking ??= ask(signal).finally(() => {
      asking = undefined;
    });
    return asking;
  };
};

// Polls that hung last time may hang again, so only a few of them run at once: the rest stay on time.

export interface Bulkhead {
  /** False where `subject` may hang and there is no place for it now. */
  enter(subject: string): boolean;
  /** The poll ended, however that went. */
  leave(subject: string): void;
}

/** `places`: for those that may hang, at the same time; all others are not counted. */
export const createBulkhead = (places: number, { isHanging }: Pick<FailureDetector, 'isHanging'>): Bulkhead => {
  const running = new Set<string>();
  return {
    enter: (subject) => {
      if (!isHanging(subject)) return true;
      if (running.size >= places) return false;
      running.add(subject);
      return true;
    },
    leave: (subject) => void running.delete(subject),
  };
};

// Whether a service should be asked at all. While it is in trouble as a whole, only a few polls go through as probes:
// it is not beaten while it is down, and its return is noticed at once.

export interface CircuitBreaker {
  /** Milliseconds until a poll of `subject` may go through; 0: now. */
  admit(subject: string): number;
}

export interface CircuitBreakerSettings {
  detector: Pick<FailureDetector, 'trouble' | 'isFailing'>;
  now(): number;
  /** 0 up to, not including, 1. */
  random(): number;
  /** Milliseconds between two probes while the key is refused. */
  everyMs: number;
}

/** The first and the longest pause between two probes; it doubles in between. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

/** No subject is the probe twice in a row while others wait: one that fails by itself would keep the circuit open. */
const createRotation = () => {
  let last: string | undefined;
  let othersWait = false;
  return {
    turnAway: (subject: string): void => {
      if (subject !== last) othersWait = true;
    },
    mayGo: (subject: string): boolean => subject !== last || !othersWait,
    serve: (subject: string): void => {
      last = subject;
      othersWait = false;
    },
  };
};

/** Lets one through at `firstAt`, and then one after each pause. `pauseOf` gets how many went through. */
const createProbing = (now: () => number, firstAt: number, pauseOf: (times: number) => number) => {
  const rotation = createRotation();
  let nextAt = firstAt;
  let times = 0;
  return {
    admit: (subject: string): number => {
      if (now() < nextAt || !rotation.mayGo(subject)) {
        rotation.turnAway(subject);
        return Math.max(1, nextAt - now());
      }
      rotation.serve(subject);
      times += 1;
      nextAt = now() + pauseOf(times);
      return 0;
    },
  };
};

export const createCircuitBreaker = ({ detector, now, random, everyMs }: CircuitBreakerSettings): CircuitBreaker => {
  /** Anywhere in the upper half of a step, so that several daemons do not probe together. */
  const jittered = (ms: number): number => Math.round(ms * (0.5 + random() / 2));
  const backingOff = ({ since }: Trouble) =>
    createProbing(now, since + jittered(FIRST_PAUSE_MS), (times) =>
      jittered(Math.min(FIRST_PAUSE_MS * 2 ** times, LONGEST_PAUSE_MS)),
    );
  const regular = ({ since }: Trouble) => createProbing(now, since + everyMs, () => everyMs);

  /** Those that failed last time probe apart from the others: one that hangs by itself would keep everybody out. */
  const probesOf = (trouble: Trouble) => {
    const sound = trouble.kind === 'refused' ? regular(trouble) : backingOff(trouble);
    return { trouble, sound, failing: trouble.kind === 'refused' ? sound : backingOff(trouble) };
  };
  let probes: ReturnType<typeof probesOf> | undefined;

  return {
    admit: (subject) => {
      const trouble = detector.trouble();
      if (!trouble) return 0;
      if (probes?.trouble !== trouble) probes = probesOf(trouble);
      return (detector.isFailing(subject) ? probes.failing : probes.sound).admit(subject);
    },
  };
};

// Which polls go through now. It depends on the wait that the service named, on its trouble, and on who may hang.

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
