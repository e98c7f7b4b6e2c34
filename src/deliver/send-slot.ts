/** When a job may send its next message: the slots of its destination and of the sender behind it. */
import type { Destination } from '../alert.ts';
import type { ParcelJob } from '../queue/job.ts';
import { NEAR_MS, type Paced, type Rate, type Slots } from './rate-limiter.ts';

export interface Pace extends Paced {
  rate: Rate;
}

export interface SendSlotDependencies {
  slots: Slots;
  /** Under which id and how fast it is written to; destinations that a platform counts as one share both. */
  paceOf(destination: Destination): Pace;
  senderOf(destination: Destination): Pace | undefined;
  now(): number;
}

/** A turn that a job holds: `data` is the job with it. */
export interface Turn {
  isNow: boolean;
  /** Epoch milliseconds. */
  runAt: number;
  data: ParcelJob;
}

export const createSendSlots = ({ slots, paceOf, senderOf, now }: SendSlotDependencies) => {
  const turnAt = (runAt: number, data: ParcelJob): Turn => ({ isNow: runAt <= now() + NEAR_MS, runAt, data });

  return {
    /** Reserves the job's next turn, or finds the one it holds. With `onlyNow` none is reserved for later: `'busy'`. */
    next: async (job: ParcelJob, onlyNow: boolean): Promise<Turn | 'busy'> => {
      const { destination } = job;
      const pace = paceOf(destination);
      const slot = onlyNow ? await slots.take(pace, pace.rate) : await slots.reserve(pace, pace.rate, job.slot);
      if (slot === undefined) return 'busy';
      const own = turnAt(slot.at, { ...job, slot });
      const sender = senderOf(destination);
      if (!own.isNow || sender === undefined) return own;
      const senderSlot = await slots.reserve(sender, sender.rate, job.senderSlot);
      // Its own slot is used when the sender's comes, not missed until then: else each would wait for the other for ever.
      const used = { ...slot, at: Math.max(slot.at, senderSlot.at) };
      return turnAt(senderSlot.at, { ...job, slot: used, senderSlot });
    },
    /** The provider named a wait: the destination's next turn is after it. */
    hold: (destination: Destination, until: number) => slots.hold(paceOf(destination), until),
    /** A digest goes out now. */
    rest: (destination: Destination) => slots.rest(paceOf(destination)),
  };
};
