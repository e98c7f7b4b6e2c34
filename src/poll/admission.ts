/** May a service be asked now? It depends on the wait that it named, its trouble as a whole, its key, and what may hang. */
import type { Cluster, Redis } from 'ioredis';
import { getOrCreate } from '../bounded-map.ts';
import { ServiceError } from '../errors.ts';
import { createFailureDetector, type FailureDetector, type Trouble } from './failure-detector.ts';

/** Redis forgets a wait a little after its end, as clocks differ. */
const SLACK_MS = 60_000;
/**
 * How long a wait that was read stays good, so that a poll that finds nothing new asks Redis nothing. A daemon that does
 * not know of a wait yet hears of it from the service itself.
 */
const FRESH_MS = 5000;
/** The wall clock and the monotonic one drift apart by less than this during a wait. */
const DRIFT_MS = 1000;

interface Wait {
  /** By the wall clock, as Redis has it. */
  until: number;
  /** By the monotonic clock. */
  endsAt: number;
}

/** Waits that a service named. They are in Redis, so they hold for every daemon, also after a restart. */
export const createBackoffs = (
  redis: Redis | Cluster,
  prefix: string,
  { now, monotonic }: { now(): number; monotonic(): number },
) => {
  const known = new Map<string, { readAt: number; wait: Promise<Wait> }>();
  const keyOf = (service: string): string => `${prefix}:hold:${service}`;

  const set = async (service: string, waitMs: number): Promise<Wait> => {
    const until = Math.ceil(now() + waitMs);
    await redis.set(keyOf(service), `${until} ${waitMs}`, 'PX', Math.ceil(waitMs + SLACK_MS));
    return { until, endsAt: monotonic() + waitMs };
  };

  const read = async (service: string, former: Promise<Wait> | undefined): Promise<Wait> => {
    const before = await former;
    const [until = 0, waitMs = 0] = ((await redis.get(keyOf(service))) ?? '').split(' ').map(Number);
    // Never longer than the service said: it may be by the clock of a daemon that is ahead.
    const endsAt = monotonic() + Math.max(0, Math.min(until - now(), waitMs));
    // The same wait does not grow: the wall clock was set back, and Redis gets the wait as that clock now counts.
    const hasGrown = until > now() && before?.until === until && endsAt > before.endsAt + DRIFT_MS;
    return hasGrown ? set(service, Math.max(0, before.endsAt - monotonic())) : { until, endsAt };
  };

  const keep = (service: string, wait: Promise<Wait>): Promise<Wait> => {
    known.set(service, { readAt: monotonic(), wait });
    wait.catch(() => known.delete(service));
    return wait;
  };

  const leftMs = async (service: string, freshMs: number): Promise<number> => {
    const before = known.get(service);
    const isFresh = before !== undefined && monotonic() - before.readAt < freshMs;
    const { endsAt } = await (isFresh ? before.wait : keep(service, read(service, before?.wait)));
    return Math.max(0, endsAt - monotonic());
  };

  return {
    /** The service must not be asked for this many milliseconds from now. */
    note: async (service: string, waitMs: number): Promise<void> => {
      if ((await leftMs(service, 0)) < waitMs) await keep(service, set(service, waitMs));
    },
    /** Milliseconds until it may be asked again; 0: now. */
    leftMs: (service: string): Promise<number> => leftMs(service, FRESH_MS),
  };
};

type Backoffs = ReturnType<typeof createBackoffs>;

interface AdmissionSettings {
  /** Milliseconds between two turns of one poll, and between two probes while the key is refused. */
  everyMs: number;
  /** Polls at once, of which a quarter may be ones that hung last time. */
  concurrency: number;
  /** Milliseconds until the wait that the service named to this process is over; 0: none. */
  heldForMs(service: string): number;
  /** The same for all daemons. */
  backoffs: Backoffs;
  /** One cheap question that is about the key alone. Throws `ServiceError`. */
  probe(service: string, signal: AbortSignal): Promise<void>;
  /** Called once when the key itself is refused. */
  onRefused(service: string, error: ServiceError): void;
  monotonic(): number;
  random(): number;
}

type Common = Pick<AdmissionSettings, 'everyMs' | 'monotonic'> & { detector: FailureDetector };

/** The first and the longest pause between two probes of a service that is down; it doubles in between. */
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;

/** Lets one through at `firstAt`, and then one after each pause. `pauseOf` gets how many went through. */
const createProbes = (monotonic: () => number, firstAt: number, pauseOf: (times: number) => number) => {
  let nextAt = firstAt;
  let times = 0;
  let last: string | undefined;
  let othersWait = false;
  let yieldsUntil: number | undefined;
  return (subject: string): boolean => {
    if (monotonic() < nextAt) {
      othersWait ||= subject !== last;
      return false;
    }
    // Not the same one twice in a row while others wait: one that fails by itself would keep the circuit open. For one
    // pause: the others may not come any more.
    if (subject === last && othersWait) {
      yieldsUntil ??= monotonic() + pauseOf(times);
      if (monotonic() < yieldsUntil) return false;
    }
    [last, othersWait, yieldsUntil] = [subject, false, undefined];
    times += 1;
    nextAt = monotonic() + pauseOf(times);
    return true;
  };
};

/**
 * Whether a poll of a subject may go through. While the service is in trouble as a whole, only a few do, as probes: it is
 * not beaten while it is down, and its return is noticed at once.
 */
export const createCircuitBreaker = (settings: Common & Pick<AdmissionSettings, 'random'>) => {
  const { detector, monotonic, random, everyMs } = settings;
  /** Anywhere in the upper half of a step, so that several daemons do not probe together. */
  const jittered = (ms: number): number => Math.round(ms * (0.5 + random() / 2));
  const backingOff = ({ since }: Trouble) =>
    createProbes(monotonic, since + jittered(FIRST_PAUSE_MS), (times) =>
      jittered(Math.min(FIRST_PAUSE_MS * 2 ** times, LONGEST_PAUSE_MS)),
    );

  /** Those that failed last time probe apart from the others: one that hangs by itself would keep everybody out. */
  const probesOf = (trouble: Trouble) => {
    if (trouble.kind === 'down') return { trouble, sound: backingOff(trouble), failing: backingOff(trouble) };
    const regular = createProbes(monotonic, trouble.since + everyMs, () => everyMs);
    return { trouble, sound: regular, failing: regular };
  };
  let probes: ReturnType<typeof probesOf> | undefined;

  return (subject: string): boolean => {
    const trouble = detector.trouble();
    if (trouble === undefined) return true;
    if (probes?.trouble !== trouble) probes = probesOf(trouble);
    return (detector.isFailing(subject) ? probes.failing : probes.sound)(subject);
  };
};

/** The failure detector's name for the question about the key. */
const KEY = 'key';

const isUnauthorized = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.reason === 'unauthorized';

/**
 * Distinguishes a refused key from a refused protocol: gives whether the key is good, as far as is known. An answer counts
 * for `everyMs`.
 */
export const createKeyCheck = (
  { detector, everyMs, monotonic }: Common,
  probe: (signal: AbortSignal) => Promise<void>,
  onRefused: (error: ServiceError) => void,
) => {
  let goodUntil = Number.NEGATIVE_INFINITY;
  let asking: Promise<boolean> | undefined;

  const ask = async (signal: AbortSignal): Promise<boolean> => {
    try {
      await probe(signal);
      goodUntil = monotonic() + everyMs;
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
    if (monotonic() < goodUntil) return true;
    asking ??= ask(signal).finally(() => {
      asking = undefined;
    });
    return asking;
  };
};

/** `againInMs`: not now, but before the next turn; left out: the next turn will do. */
export type AdmitResult = { admitted: true } | { admitted: false; againInMs?: number };

const NOT_NOW: AdmitResult = { admitted: false };

export const createAdmission = (settings: AdmissionSettings) => {
  const { everyMs, concurrency, heldForMs, backoffs, probe, onRefused, monotonic, random } = settings;
  const most = Math.max(1, Math.floor(concurrency / 4));

  const watch = (service: string) => {
    const detector = createFailureDetector(monotonic);
    const common = { detector, monotonic, everyMs };
    return {
      detector,
      mayPass: createCircuitBreaker({ ...common, random }),
      isKeyGood: createKeyCheck(
        common,
        (signal) => probe(service, signal),
        (error) => onRefused(service, error),
      ),
      /** Polls that hung last time may hang again, so only a few of them run at once: the others stay on time. */
      mayHang: new Set<string>(),
    };
  };
  const services = new Map<string, ReturnType<typeof watch>>();
  const of = (service: string) => getOrCreate(services, service, () => watch(service));

  return {
    /** May `subject` (a stream, the listing) be asked for? Each admitted one ends with one of the next three. */
    admit: async (service: string, subject: string, signal: AbortSignal): Promise<AdmitResult> => {
      const { detector, mayPass, isKeyGood, mayHang } = of(service);
      const heldMs = Math.max(heldForMs(service), await backoffs.leftMs(service));
      // After a random delay: in the order of the turns, the same polls would hit the service's limit every time.
      if (heldMs > 0) return { ...NOT_NOW, ...(heldMs < everyMs && { againInMs: heldMs + random() * everyMs }) };
      if (!mayPass(subject)) return NOT_NOW;
      detector.asked(subject);
      if (detector.trouble()?.kind === 'refused' && !(await isKeyGood(signal))) return NOT_NOW;
      if (detector.isHanging(subject)) {
        if (mayHang.size >= most) return NOT_NOW;
        mayHang.add(subject);
      }
      return { admitted: true };
    },
    /** An answer came. */
    answered: (service: string, subject: string): void => {
      const { detector, mayHang } = of(service);
      mayHang.delete(subject);
      detector.worked(subject);
    },
    unasked: (service: string, subject: string): void => void of(service).mayHang.delete(subject),
    /** No usable answer came. */
    failed: async (service: string, subject: string, error: unknown, signal: AbortSignal): Promise<void> => {
      const { detector, isKeyGood, mayHang } = of(service);
      mayHang.delete(subject);
      detector.failed(subject, error);
      if (isUnauthorized(error)) await isKeyGood(signal);
      if (heldForMs(service) > 0) await backoffs.note(service, heldForMs(service));
    },
    /** Of the service as a whole. */
    trouble: (service: string): Trouble | undefined => of(service).detector.trouble(),
    /** Since when it answers this daemon nothing, by the monotonic clock; Infinity: it answers. */
    silentSince: (service: string): number => of(service).detector.silentSince(),
  };
};

export type Admission = ReturnType<typeof createAdmission>;
