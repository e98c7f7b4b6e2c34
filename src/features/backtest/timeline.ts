/** One clock, and what happens by it in order of time. */
import { createDueQueue } from '../../poll/due-queue.ts';

interface Event {
  dueAt: number;
  /** Which of one moment comes first. */
  order: number;
  run(): Promise<void>;
}

export const createTimeline = () => {
  const events = createDueQueue<Event>();
  let clock = 0;
  let orders = 0;

  const nextOrder = (): number => {
    orders += 1;
    return orders;
  };

  return {
    now: (): number => clock,
    /** A place among the events of one moment: in the order in which the places were given. */
    nextOrder,
    add: (at: number, run: Event['run'], order = nextOrder()): void => events.push({ dueAt: at, order, run }),
    /** Resolves when nothing is left to happen. */
    run: async (): Promise<void> => {
      for (let event = events.shift(); event; event = events.shift()) {
        clock = Math.max(clock, event.dueAt);
        await event.run();
      }
    },
  };
};

export type Timeline = ReturnType<typeof createTimeline>;
