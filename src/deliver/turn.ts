/** When a job may send its next message: the slots of its destination and of the sender behind it. */
import type { Destination } from '../alert.ts';
import type { ParcelJob } from '../queue/job.ts';
import type { Sender } from './health.ts';
import { NEAR_MS, type Rate, type Slots } from './slots.ts';

export interface TurnDependencies {
  slots: Slots;
  rateOf(destination: Destination): Rate;
  senderOf(destination: Destination): Sender | undefined;
  now(): number;
}

export const createTurns = ({ slots, rateOf, senderOf, now }: TurnDependencies) => {
  const isLater = (at: number): boolean => at > now() + NEAR_MS;

  /** Gives what the job has to wait with, and until when; undefined where its turn is now. */
  const ofSender = async (job: ParcelJob): Promise<{ runAt: number; data: ParcelJob } | undefined> => {
    const sender = senderOf(job.destination);
    if (sender === undefined) return undefined;
    const senderSlot = await slots.reserve(sender, sender.rate, job.senderSlot);
    return isLater(senderSlot.at) ? { runAt: senderSlot.at, data: { ...job, senderSlot } } : undefined;
  };

  return {
    /**
     * Reserves the job's next turn, or finds the one it holds. With `onlyNow` nothing is reserved for later: `'busy'`.
     * Else gives what it has to wait with, and until when; undefined where its turn is now.
     */
    next: async (
      job: ParcelJob,
      onlyNow: boolean,
    ): Promise<{ runAt: number; data: ParcelJob } | 'busy' | undefined> => {
      const { destination } = job;
      const rate = rateOf(destination);
      const slot = onlyNow ? await slots.take(destination, rate) : await slots.reserve(destination, rate, job.slot);
      if (slot === undefined) return 'busy';
      if (isLater(slot.at)) return { runAt: slot.at, data: { ...job, slot } };
      return ofSender({ ...job, slot });
    },
    /** The provider named a wait: the destination's next turn is after it. */
    hold: (destination: Destination, until: number) => slots.hold(destination, until),
    /** A digest goes out now. */
    rest: (destination: Destination) => slots.rest(destination),
  };
};
