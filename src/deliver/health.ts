/**
 * May we send: a circuit per destination, and one per sender (a token, a mail server) that several share. After a few
 * failures in a row it opens: alerts for it wait, and one message at a time probes whether it works again. Nothing is
 * discarded.
 */
import type { Cluster, Redis } from 'ioredis';
import { type Alert, type Destination, isSample } from '../alert.ts';
import { type DeliveryError, type DeliveryReason, type Explanation, factsOf, isConclusive } from '../errors.ts';
import type { Subject } from '../ledger/record.ts';
import type { Pace } from './send-slot.ts';

// A circuit per destination, and one per sender (a token, a mail server) that several share. After a few failures in a row
// it opens: alerts for it wait, and one message at a time probes whether it works again. Nothing is discarded.

export interface CircuitFailure {
  reason: DeliveryReason;
  /** Milliseconds until the failed message is tried again. */
  retryInMs: number;
  /** Test messages never open a circuit and never count toward one. Default: false. */
  isTest?: boolean;
}

export interface Circuits {
  /** Nothing is known of them: nothing failed since the last message that was delivered. */
  areClean(ids: readonly string[]): Promise<boolean>;
  /** When to ask again, in epoch milliseconds; undefined where all of these circuits are closed. */
  pausedUntil(ids: readonly string[]): Promise<number | undefined>;
  /** The same just before a message is sent: of several messages that ask for an open circuit, one may go as the probe. */
  admit(ids: readonly string[]): Promise<number | undefined>;
  /** The probe was inconclusive: allow the next one now. */
  release(ids: readonly string[]): Promise<void>;
  failed(id: string, failure: CircuitFailure): Promise<CircuitAnswer>;
  /** The outage has been announced. False where it works again meanwhile. */
  announced(id: string): Promise<boolean>;
  /** True for the one caller that now announces the end of the outage, and then closes the circuit. */
  worked(id: string): Promise<boolean>;
  close(id: string): Promise<void>;
  /** An operator says that it is mended: the next failure is announced as a new outage, and the next success as the end. */
  announceAnew(id: string): Promise<void>;
}

export interface CircuitAnswer {
  /** The circuit has opened, and nobody has announced it yet. */
  isNews: boolean;
  /** Epoch milliseconds; absent where the circuit is closed. */
  pausedUntil?: number;
}

/** Failures in a row that open a circuit; a single one may be a passing fault. */
const FAILURES = 3;
const SHORTEST_PAUSE_MS = 1000;
/** It takes at most this long to notice that a destination works again. */
const LONGEST_PAUSE_MS = 30_000;
/** A probe whose daemon ended is replaced after this. */
const PROBE_MS = 20_000;
/** While a probe is on its way: its answer may come at any moment. */
const ASK_AGAIN_MS = 5000;
/** Another daemon announces an outage or its end where the first one ended before it could. */
const ANNOUNCE_MS = 60_000;
/** As long as the outage's announcement is remembered, see `features/broken-destinations/store.ts`. */
const KEEP_MS = 35 * 86_400_000;

/** The clocks of several daemons differ a little. A moment that is further ahead was noted before a clock was set back. */
const CLOCKS_MS = 5000;

/**
 * KEYS: circuits; ARGV: now, how long a probe may take ('' to change nothing), when to ask again while there is one, the
 * longest pause, how far clocks differ.
 */
const ASK = `
local now = tonumber(ARGV[1])
local pausedUntil = 0
for _, key in ipairs(KEYS) do
  local paused = tonumber(redis.call('HGET', key, 'until') or '0')
  if paused > now + ARGV[4] + ARGV[5] then
    paused = now + ARGV[4]
    redis.call('HSET', key, 'until', paused)
  end
  if redis.call('HEXISTS', key, 'probe') == 1 then paused = math.min(paused, now + ARGV[3]) end
  pausedUntil = math.max(pausedUntil, paused)
end
if pausedUntil > now then return pausedUntil end
if ARGV[2] == '' or pausedUntil == 0 then return 0 end
for _, key in ipairs(KEYS) do
  if redis.call('HEXISTS', key, 'until') == 1 then redis.call('HSET', key, 'until', now + ARGV[2], 'probe', 1) end
end
return 0`;

/** KEYS: circuits; ARGV: now. */
const RELEASE = `
for _, key in ipairs(KEYS) do
  redis.call('HDEL', key, 'probe')
  if redis.call('HEXISTS', key, 'until') == 1 then redis.call('HSET', key, 'until', ARGV[1]) end
end
return 1`;

/**
 * KEYS: the circuit; ARGV: now, what this failure counts, how many open the circuit, until when it pauses ('' for not at
 * all), how long it is kept, how long the announcement may take, how far clocks differ. In Redis 'telling' is when somebody
 * began to announce it, 'told' that it has been announced.
 */
const FAIL = `
local failures = redis.call('HINCRBY', KEYS[1], 'failures', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('HDEL', KEYS[1], 'probe')
if failures < tonumber(ARGV[3]) then return {0, 0} end
if ARGV[4] == '' then redis.call('HDEL', KEYS[1], 'until') else redis.call('HSET', KEYS[1], 'until', ARGV[4]) end
redis.call('HSETNX', KEYS[1], 'since', ARGV[1])
local tellingFor = ARGV[1] - tonumber(redis.call('HGET', KEYS[1], 'telling') or '0')
local isTelling = tellingFor < tonumber(ARGV[6]) and tellingFor >= -ARGV[7]
if redis.call('HEXISTS', KEYS[1], 'told') == 1 or isTelling then
  return {0, tonumber(ARGV[4]) or 0}
end
redis.call('HSET', KEYS[1], 'telling', ARGV[1])
return {1, tonumber(ARGV[4]) or 0}`;

const ANNOUNCED = `
if redis.call('HEXISTS', KEYS[1], 'since') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'told', 1)
return 1`;

/** KEYS: the circuit; ARGV: now, how long the announcement of the end may take, how far clocks differ. */
const WORK = `
if redis.call('HEXISTS', KEYS[1], 'since') == 0 then
  redis.call('DEL', KEYS[1])
  return 0
end
local endingFor = ARGV[1] - tonumber(redis.call('HGET', KEYS[1], 'ending') or '0')
if endingFor < tonumber(ARGV[2]) and endingFor >= -ARGV[3] then return 0 end
redis.call('HSET', KEYS[1], 'ending', ARGV[1])
return 1`;

export const createCircuits = (redis: Redis | Cluster, prefix: string, now: () => number): Circuits => {
  const keyOf = (id: string): string => `${prefix}:circuit:${id}`;
  const ask = async (ids: readonly string[], probeMs: number | ''): Promise<number | undefined> => {
    const limits = [ASK_AGAIN_MS, LONGEST_PAUSE_MS, CLOCKS_MS];
    return Number(await redis.eval(ASK, ids.length, ...ids.map(keyOf), now(), probeMs, ...limits)) || undefined;
  };
  return {
    areClean: async (ids) => (await redis.exists(...ids.map(keyOf))) === 0,
    pausedUntil: (ids) => ask(ids, ''),
    admit: (ids) => ask(ids, PROBE_MS),
    release: async (ids) => {
      await redis.eval(RELEASE, ids.length, ...ids.map(keyOf), now());
    },
    failed: async (id, { reason, retryInMs, isTest = false }) => {
      const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, retryInMs));
      // Deliveries to a dead destination die at once: there is nothing to pause.
      const { next, outlook } = factsOf(reason);
      const until = next === 'dead' ? '' : now() + pauseMs;
      // What stays wrong until somebody mends it needs no second failure.
      const weight = isTest ? 0 : outlook === 'lasting' ? FAILURES : 1;
      const limits = [KEEP_MS, ANNOUNCE_MS, CLOCKS_MS];
      const answer = await redis.eval(FAIL, 1, keyOf(id), now(), weight, FAILURES, until, ...limits);
      const [isNews, pausedUntil] = answer as [number, number];
      return { isNews: isNews === 1, ...(pausedUntil === 0 ? {} : { pausedUntil }) };
    },
    announced: async (id) => (await redis.eval(ANNOUNCED, 1, keyOf(id))) === 1,
    worked: async (id) => (await redis.eval(WORK, 1, keyOf(id), now(), ANNOUNCE_MS, CLOCKS_MS)) === 1,
    close: async (id) => {
      await redis.del(keyOf(id));
    },
    announceAnew: async (id) => {
      await redis.hdel(keyOf(id), 'told', 'telling');
    },
  };
};

// Keeps the circuits of a destination and its sender by how attempts end; announces when one opens or closes.

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
  /** The failure concerns the sender, not only this destination. Asked where the error says so. */
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
      if (!isConclusive(reason)) {
        await circuits.release(circuitsOf(destination));
        return undefined;
      }
      const sender = senderOf(destination);
      const isSender = sender !== undefined && factsOf(reason).about === 'sender' && (await isSenders(destination));
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
