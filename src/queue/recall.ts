/** Jobs that went back into the queue for want of a place, brought forward when there is room sooner than expected. */
import type { Queue } from 'bullmq';

export interface Recall {
  /** The job waits in the queue until then, in epoch milliseconds. */
  wentBack(id: string, until: number): void;
  /** There is room: some jobs come at once. Never throws. */
  recall(): Promise<void>;
}

/** One after the other makes no storm of them. */
const AT_ONCE = 20;
/** Ids that a process remembers; others come when their time has come. */
const MOST_REMEMBERED = 5000;

export const createRecall = (queue: Pick<Queue, 'getJob'>, now: () => number): Recall => {
  const away = new Map<string, number>();
  let isRecalling = false;

  const bring = async (id: string): Promise<void> => {
    const job = await queue.getJob(id);
    await job?.promote();
  };

  return {
    wentBack: (id, until) => {
      away.delete(id);
      away.set(id, until);
      const [oldest = ''] = away.keys();
      if (away.size > MOST_REMEMBERED) away.delete(oldest);
    },
    recall: async () => {
      if (isRecalling || away.size === 0) return;
      isRecalling = true;
      const some = [...away.keys()].slice(0, AT_ONCE);
      const due = now();
      const early = some.filter((id) => (away.get(id) ?? 0) > due);
      for (const id of some) away.delete(id);
      // One that runs already, or is gone, has no need of it.
      await Promise.allSettled(early.map(bring));
      isRecalling = false;
    },
  };
};
