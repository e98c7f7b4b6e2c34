/** When a job may send its next message: the slots of its destination and of the sender behind it. */
import { type Destination, protocolKey, TOCSIN } from '../alert.ts';
import { nextOf } from '../queue/fairness.ts';
import type { ParcelJob, Slot } from '../queue/job.ts';
import { delayUntil } from '../time.ts';
import { pause } from '../waiting.ts';
import { NEAR_MS, type Pace, type Rate } from './rate-limit-rule.ts';
import type { RateLimiter } from './rate-limiter.ts';

interface SenderTurnsDependencies {
  /** The sender's next slot: when it comes, in epoch milliseconds. */
  reserve(sender: Pace): Promise<{ at: number }>;
  now(): number;
  /** Resolves earlier if `signal` aborts. Default: it waits. */
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
}

const sleepFor = async (ms: number, signal: AbortSignal): Promise<void> => {
  if (ms > 0) await pause(ms, signal);
};

interface Waiting {
  key: string;
  decide(hasSlot: boolean): void;
  fail(error: unknown): void;
}

/** The jobs that wait for a sender, and when each protocol last had a slot. */
const createQueue = () => {
  const waiting = new Set<Waiting>();
  const servedAt = new Map<string, number>();
  let slots = 0;
  return {
    waiting,
    /** The first job of the protocol whose last slot was the longest ago. */
    next: (): Waiting | undefined => {
      const next = nextOf(waiting, ({ key }) => [servedAt.get(key) ?? 0]);
      if (next === undefined) return undefined;
      waiting.delete(next);
      slots += 1;
      servedAt.set(next.key, slots);
      return next;
    },
  };
};

/**
 * The send slots of a sender that many destinations share, given to protocols in turns. A slot belongs to nobody until it
 * comes: reserved ahead of time for each job, those of 3,000 chats would put another protocol's alert two minutes back.
 */
export const createSenderTurns = ({ reserve, now, sleep = sleepFor }: SenderTurnsDependencies) => {
  const queues = new Map<string, ReturnType<typeof createQueue>>();
  const closing = new AbortController();
  const moment = () => ({ wall: now(), monotonic: performance.now() });

  const serve = async (sender: Pace, { waiting, next }: ReturnType<typeof createQueue>): Promise<void> => {
    while (waiting.size > 0) {
      try {
        const begun = moment();
        // The clock may be set back while Redis answers: every chat of the sender would wait for the old clock's moment.
        if (!closing.signal.aborted)
          await sleep(delayUntil((await reserve(sender)).at, begun, moment()), closing.signal);
        next()?.decide(!closing.signal.aborted);
      } catch (error) {
        next()?.fail(error);
      }
    }
    queues.delete(sender.id);
  };

  return {
    /** Waits for a slot of the sender, for the protocol of this fairness key. False where the daemon stops first. */
    take: (sender: Pace, key: string): Promise<boolean> => {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      const known = queues.get(sender.id);
      const queue = known ?? createQueue();
      queue.waiting.add({ key, decide: resolve, fail: reject });
      if (!known) {
        queues.set(sender.id, queue);
        void serve(sender, queue);
      }
      return promise;
    },
    /** What waits, or still comes, gets no slot. */
    close: (): void => closing.abort(),
  };
};
type SenderTurns = ReturnType<typeof createSenderTurns>;

export interface SendSlotDependencies {
  rateLimiter: RateLimiter;
  /** The id and the rate of a destination; destinations that a platform counts as one share both. */
  paceOf(destination: Destination): Pace;
  senderOf(destination: Destination): Pace | undefined;
  /** Protocols get the sender's slots in turns. Default: each job reserves its own, first come, first served. */
  senderTurns?: Pick<SenderTurns, 'take'>;
  now(): number;
  /** 0 up to, not including, 1. Default: at random. */
  random?(): number;
}

/** The slot that a job holds, or when it asks for one again: `data` is the job with its slot or ticket. */
interface SendSlot {
  isNow: boolean;
  /** Epoch milliseconds. */
  runAt: number;
  data: ParcelJob;
}

const isLimited = ({ perSecond, perMinute }: Rate): boolean => perSecond !== undefined || perMinute !== undefined;

/** Replays without a slot keep no place in a line, so what is new goes before them. */
const isPatient = ({ alerts, slot }: ParcelJob): boolean =>
  slot === undefined && alerts.length > 0 && alerts.every(({ replay }) => replay);

const OWN_KEY = protocolKey({ service: TOCSIN, protocol: TOCSIN });

/** How long a patient job waits for a slot that is free: longer each time, as many may wait for the same one. */
const PATIENCE = { firstMs: 1000, longestMs: 20_000 };

const patienceOf = (misses: number, random: number): number =>
  Math.min(PATIENCE.longestMs, PATIENCE.firstMs * 2 ** misses) * (0.5 + random);

export const createSendSlots = (dependencies: SendSlotDependencies) => {
  const { rateLimiter, paceOf, senderOf, senderTurns, now, random = Math.random } = dependencies;
  const slotAt = (runAt: number, data: ParcelJob): SendSlot => ({ isNow: runAt <= now() + NEAR_MS, runAt, data });

  /** The slot of the sender, once the destination's has come. */
  const withSender = async (job: ParcelJob, slot: Slot): Promise<SendSlot> => {
    const own = slotAt(slot.at, { ...job, slot });
    const sender = senderOf(job.destination);
    if (!own.isNow || sender === undefined || !isLimited(sender.rate)) return own;
    if (senderTurns) {
      const hasSlot = await senderTurns.take(sender, job.fairnessKey);
      return { isNow: hasSlot, runAt: now(), data: { ...job, slot: { ...slot, at: Math.max(slot.at, now()) } } };
    }
    const senderSlot = await rateLimiter.reserve(sender, sender.rate, job.senderSlot);
    // Move the destination's slot to the sender's, or both starve.
    const moved = { ...slot, at: Math.max(slot.at, senderSlot.at) };
    return slotAt(senderSlot.at, { ...job, slot: moved, senderSlot });
  };

  const take = async (job: ParcelJob, isDigest = false): Promise<SendSlot | undefined> => {
    const pace = paceOf(job.destination);
    const slot = await rateLimiter.take(pace, pace.rate, isDigest);
    return slot && withSender(job, slot);
  };

  /** The slot of this moment, if it is free; else the job asks again later. */
  const takeLater = async (job: ParcelJob): Promise<SendSlot> => {
    const { misses = 0, ...others } = job;
    const runAt = now() + patienceOf(misses, random());
    return (await take(others)) ?? { isNow: false, runAt, data: { ...job, misses: misses + 1 } };
  };

  /** The slot of this moment, if it is the job's turn; else the job comes back when its turn is likely. */
  const queueUp = async (job: ParcelJob, pace: Pace): Promise<SendSlot> => {
    const { ticket: _ticket, ...others } = job;
    const isMain = job.batchNumber !== undefined && pace.id === job.destination.id;
    const asking = { ...job, isMain, isOwn: job.fairnessKey === OWN_KEY };
    const { slot, ticket } = await rateLimiter.queue(pace, pace.rate, isMain ? 'main' : job.fairnessKey, asking);
    return slot ? withSender(others, slot) : { isNow: false, runAt: ticket.at, data: { ...job, ticket } };
  };

  return {
    /** Asked early, beside other questions: whether anything holds up a destination without a rate. Then its slot is known. */
    look: async (destination: Destination): Promise<void> => {
      const pace = paceOf(destination);
      if (!isLimited(pace.rate)) await rateLimiter.reserve(pace, pace.rate);
    },
    /** The slot that the job holds, or that is its turn. Protocols take turns at each destination. */
    reserve: async (job: ParcelJob): Promise<SendSlot> => {
      const pace = paceOf(job.destination);
      if (isLimited(pace.rate)) return isPatient(job) ? takeLater(job) : queueUp(job, pace);
      return withSender(job, await rateLimiter.reserve(pace, pace.rate, job.slot));
    },
    /**
     * Takes the slot of this moment; undefined where the destination has none now, and then nothing is reserved. After a digest
     * the destination rests.
     */
    take,
    /** The provider named a wait: the destination's next slot is after it. */
    hold: (destination: Destination, until: number): Promise<Slot> => {
      const pace = paceOf(destination);
      return rateLimiter.hold(pace, until, pace.rate);
    },
    /** A digest goes out now. */
    rest: (destination: Destination): Promise<void> => rateLimiter.rest(paceOf(destination)),
  };
};

export type SendSlots = ReturnType<typeof createSendSlots>;
