/**
 * May we send: a circuit per destination, and one per sender (a token, a mail server) that several share. After a few
 * failures in a row it opens: alerts for it wait, and one message at a time probes whether it works again. Nothing is
 * discarded.
 */
import type { Cluster, Redis } from 'ioredis';
import { type Alert, type Destination, isSample } from '../alert.ts';
import { createBoundedMap } from '../bounded-map.ts';
import { type DeliveryError, type DeliveryReason, type Explanation, factsOf, isConclusive } from '../errors.ts';
import { senderId } from '../item.ts';
import { exists } from '../redis/pipeline.ts';
import { CLOCKS_DIFFER_MS, DAY_MS } from '../time.ts';
import type { Pace } from './rate-limit-rule.ts';

/** Failures in a row that open a circuit; a single one may be a passing fault. */
const FAILURES = 3;
const SHORTEST_PAUSE_MS = 1000;
/** It takes at most this long to notice that a destination works again. */
const LONGEST_PAUSE_MS = 30_000;
/** A probe whose daemon ended is replaced after this. */
const PROBE_MS = 20_000;
/** When to ask again while a probe is under way: its answer may come at any moment. */
const ASK_AGAIN_MS = 5000;
/** If a daemon ends before it has announced an outage or its end, another one does so after this. */
const ANNOUNCE_MS = 60_000;
/** As long as the outage's announcement is remembered, see `features/conditions/store.ts`. */
const KEEP_MS = 35 * DAY_MS;

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

/** Lua: whether a daemon has begun something with the circuit so lately that it may still be at it. */
const IS_AT_IT = `
local function isAtIt(what, now, forMs, clocksDifferMs)
  local begunFor = now - tonumber(redis.call('HGET', KEYS[1], what) or '0')
  return begunFor < tonumber(forMs) and begunFor >= -clocksDifferMs
end`;

/**
 * KEYS: the circuit; ARGV: now, what this failure counts, how many open the circuit, until when it pauses ('' for not at
 * all), how long it is kept, how long the announcement may take, how far clocks differ. `announcing` is when a
 * daemon began to announce it.
 */
const FAIL = `${IS_AT_IT}
local failures = redis.call('HINCRBY', KEYS[1], 'failures', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
redis.call('HDEL', KEYS[1], 'probe')
if failures < tonumber(ARGV[3]) then return {0, 0} end
if ARGV[4] == '' then redis.call('HDEL', KEYS[1], 'until') else redis.call('HSET', KEYS[1], 'until', ARGV[4]) end
redis.call('HSETNX', KEYS[1], 'since', ARGV[1])
if redis.call('HEXISTS', KEYS[1], 'announced') == 1 or isAtIt('announcing', ARGV[1], ARGV[6], ARGV[7]) then
  return {0, tonumber(ARGV[4]) or 0}
end
redis.call('HSET', KEYS[1], 'announcing', ARGV[1])
return {1, tonumber(ARGV[4]) or 0}`;

const ANNOUNCED = `
if redis.call('HEXISTS', KEYS[1], 'since') == 0 then return 0 end
redis.call('HSET', KEYS[1], 'announced', 1)
return 1`;

/** KEYS: the circuit; ARGV: now, how long the announcement of the end may take, how far clocks differ. */
const WORK = `${IS_AT_IT}
if redis.call('HEXISTS', KEYS[1], 'since') == 0 then
  redis.call('DEL', KEYS[1])
  return 0
end
if isAtIt('ending', ARGV[1], ARGV[2], ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], 'ending', ARGV[1])
return 1`;

export const createCircuits = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const keyOf = (id: string): string => `${prefix}:circuit:${id}`;
  const ask = async (ids: readonly string[], probeMs: number | ''): Promise<number | undefined> => {
    const limits = [ASK_AGAIN_MS, LONGEST_PAUSE_MS, CLOCKS_DIFFER_MS];
    return Number(await redis.eval(ASK, ids.length, ...ids.map(keyOf), now(), probeMs, ...limits)) || undefined;
  };
  return {
    /** Nothing is known of them: nothing failed since the last message that was delivered. */
    areClean: async (ids: readonly string[]): Promise<boolean> => !(await exists(redis, ...ids.map(keyOf))),
    /** When to ask again, in epoch milliseconds; undefined where all of these circuits are closed. */
    pausedUntil: (ids: readonly string[]): Promise<number | undefined> => ask(ids, ''),
    /** The same just before a message is sent: of several messages that ask for an open circuit, one may go as the probe. */
    admit: (ids: readonly string[]): Promise<number | undefined> => ask(ids, PROBE_MS),
    /** The probe was inconclusive: allow the next one now. */
    release: async (ids: readonly string[]): Promise<void> => {
      await redis.eval(RELEASE, ids.length, ...ids.map(keyOf), now());
    },
    /**
     * `retryInMs`: until the failed message is tried again; test messages never open a circuit and never count toward one.
     * `isNews`: it has opened, and nobody has announced that yet. `pausedUntil`: epoch milliseconds; absent while closed.
     */
    failed: async (
      id: string,
      { reason, retryInMs, isTest = false }: { reason: DeliveryReason; retryInMs: number; isTest?: boolean },
    ): Promise<{ isNews: boolean; pausedUntil?: number }> => {
      const pauseMs = Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, retryInMs));
      const { next, outlook } = factsOf(reason);
      // Where deliveries die at once, there is nothing to pause.
      const until = next === 'dead' ? '' : now() + pauseMs;
      // What stays wrong until somebody mends it needs no second failure.
      const weight = isTest ? 0 : outlook === 'lasting' ? FAILURES : 1;
      const limits = [KEEP_MS, ANNOUNCE_MS, CLOCKS_DIFFER_MS];
      const answer = await redis.eval(FAIL, 1, keyOf(id), now(), weight, FAILURES, until, ...limits);
      const [isNews, pausedUntil] = answer as [number, number];
      return { isNews: isNews === 1, ...(pausedUntil === 0 ? {} : { pausedUntil }) };
    },
    /** The outage has been announced. False where it works again meanwhile. */
    announced: async (id: string): Promise<boolean> => (await redis.eval(ANNOUNCED, 1, keyOf(id))) === 1,
    /** True for the one caller that now announces the end of the outage, and then closes the circuit. */
    worked: async (id: string): Promise<boolean> =>
      (await redis.eval(WORK, 1, keyOf(id), now(), ANNOUNCE_MS, CLOCKS_DIFFER_MS)) === 1,
    close: async (id: string): Promise<void> => {
      await redis.del(keyOf(id));
    },
    /** It takes messages. The end of the outage is still to be announced. */
    resume: async (id: string): Promise<void> => {
      await redis.hdel(keyOf(id), 'until', 'probe', 'failures');
    },
    /** An operator says that it is mended: the next failure is announced as a new outage, and the next success as the end. */
    announceAgain: async (id: string): Promise<void> => {
      await redis.hdel(keyOf(id), 'announced', 'announcing');
    },
  };
};

export type Circuits = ReturnType<typeof createCircuits>;

/** What an outage concerns: one destination, or the sender behind every destination of a kind. */
export interface Subject {
  destination: Destination;
  isSender: boolean;
}

/** Unique and safe in keys. */
export const subjectId = ({ destination, isSender }: Subject): string =>
  isSender ? senderId(destination.kind) : destination.id;

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

interface HealthDependencies {
  circuits: Circuits;
  /** The token or mail server that many destinations share. */
  senderOf(destination: Destination): Pace | undefined;
  /** The failure concerns the sender, not only this destination. Asked where its reason says so. */
  isSenders(destination: Destination): Promise<boolean>;
  /** One that throws is called again, some time later. */
  onBroken(broken: Broken): Promise<void>;
  onRecovered(subject: Subject): Promise<void>;
  /** Default: the process' own. */
  monotonic?(): number;
}

/**
 * Where nothing has failed, Redis is asked once for many messages. What fails in another daemon is noticed this much
 * later, in milliseconds, and what fails here at once.
 */
const CLEAN_MS = 1000;
/** Clean circuits that a process remembers. */
const MOST_CLEAN = 10_000;

/** A delivery must not fail because an outage cannot be announced: a later one announces it. */
const isDone = (announcing: Promise<void>): Promise<boolean> =>
  announcing.then(
    () => true,
    () => false,
  );

/** Keeps the circuits of a destination and its sender by how attempts end; announces when one opens or closes. */
export const createDestinationHealth = (dependencies: HealthDependencies) => {
  const { circuits, senderOf, isSenders, onBroken, onRecovered, monotonic = () => performance.now() } = dependencies;
  /** When each clean circuit was last looked at. */
  const clean = createBoundedMap<string, number>(MOST_CLEAN);

  const areKnownClean = (ids: readonly string[]): boolean => {
    const since = monotonic() - CLEAN_MS;
    return ids.every((id) => (clean.get(id) ?? Number.NEGATIVE_INFINITY) > since);
  };

  const circuitsOf = (destination: Destination): string[] => {
    const sender = senderOf(destination);
    return sender === undefined ? [destination.id] : [destination.id, sender.id];
  };

  const look = async (ids: readonly string[], ask: Circuits['admit']): Promise<number | undefined> => {
    const at = monotonic();
    const areClean = await circuits.areClean(ids);
    for (const id of ids) areClean ? clean.set(id, at) : clean.delete(id);
    return areClean ? undefined : ask(ids);
  };

  const unlessClean = (ask: Circuits['admit']) => (destination: Destination) => {
    const ids = circuitsOf(destination);
    return areKnownClean(ids) ? undefined : look(ids, ask);
  };

  /** Announced first, closed second: where a daemon ends in between, or that fails, the same is announced again. */
  const close = async (circuit: string, destination: Destination): Promise<void> => {
    if (!(await circuits.worked(circuit))) return;
    const isAnnounced = await isDone(onRecovered({ destination, isSender: circuit !== destination.id }));
    await (isAnnounced ? circuits.close(circuit) : circuits.resume(circuit));
  };

  return {
    /** When to ask again, in epoch milliseconds; undefined where the destination takes messages, as far as is known. */
    pausedUntil: unlessClean(circuits.pausedUntil),
    /** The same just before a message is sent: of several messages for a broken destination, one may go as the probe. */
    admit: unlessClean(circuits.admit),
    worked: (destination: Destination): Promise<unknown> | undefined => {
      const ids = circuitsOf(destination);
      return areKnownClean(ids) ? undefined : Promise.all(ids.map((circuit) => close(circuit, destination)));
    },
    /** Nothing had to be sent: where this was the probe of an open circuit, the next message is the probe. */
    unasked: (destination: Destination): Promise<unknown> | undefined => {
      const ids = circuitsOf(destination);
      return areKnownClean(ids) ? undefined : circuits.release(ids);
    },
    /**
     * `message`: the error without secrets; `said`: what the provider answered. Gives until when the destination pauses now;
     * undefined where it does not.
     */
    failed: async (
      destination: Destination,
      alerts: readonly Alert[],
      { error, message, said, retryInMs }: { error: DeliveryError; message: string; said?: string; retryInMs: number },
    ): Promise<number | undefined> => {
      const { reason, explanation } = error;
      if (!isConclusive(reason)) {
        await circuits.release(circuitsOf(destination));
        return undefined;
      }
      const sender = senderOf(destination);
      const isBlamed = async () =>
        error.unreached || (factsOf(reason).about === 'sender' && (await isSenders(destination)));
      const isSender = sender !== undefined && (await isBlamed());
      const circuit = isSender ? sender.id : destination.id;
      const isTest = alerts.length > 0 && alerts.every(isSample);
      clean.delete(circuit);
      const { isNews, pausedUntil } = await circuits.failed(circuit, { reason, retryInMs, isTest });
      // Another job may have looked meanwhile, and not seen it.
      clean.delete(circuit);
      if (isNews) {
        const words = { message, ...(explanation && { explanation }), ...(said !== undefined && { said }) };
        const broken = { destination, isSender, alerts, reason, isDisabled: error.disables, ...words };
        const isAnnounced = await isDone(onBroken(broken));
        // It has worked again meanwhile, before there was anything to take back.
        if (isAnnounced && !(await circuits.announced(circuit))) await isDone(onRecovered({ destination, isSender }));
      }
      return pausedUntil;
    },
  };
};

export type DestinationHealth = ReturnType<typeof createDestinationHealth>;
