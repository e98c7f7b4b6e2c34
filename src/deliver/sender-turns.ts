/**
 * The send slots of a sender that many destinations share, given to protocols in turns. A slot belongs to nobody until it
 * comes: reserved ahead of time for each job, those of 3,000 chats would put another protocol's alert two minutes back.
 */
import { setTimeout } from 'node:timers/promises';
import type { Paced, Rate } from './rate-limiter.ts';

export interface Sender extends Paced {
  rate: Rate;
}

export interface SenderTurns {
  /** Waits for a slot of the sender. False where the daemon stops before it came. */
  take(sender: Sender, share: string): Promise<boolean>;
  /** Whoever waits, or still comes, gets no slot. */
  close(): void;
}

export interface SenderTurnsDependencies {
  /** The sender's next slot: when it comes, in epoch milliseconds. */
  reserve(sender: Sender): Promise<{ at: number }>;
  now(): number;
  /** Resolves earlier if `signal` aborts. Default: it waits. */
  sleep?(ms: number, signal: AbortSignal): Promise<void>;
}

const sleepFor = async (ms: number, signal: AbortSignal): Promise<void> => {
  if (ms > 0) await setTimeout(ms, undefined, { signal }).catch(() => {});
};

interface Waiting {
  share: string;
  decide(hasSlot: boolean): void;
  fail(error: unknown): void;
}

/** A sender's jobs that wait, and which share had its slot when. */
const createLine = () => {
  let waiting: Waiting[] = [];
  const turns = new Map<string, number>();
  let turn = 0;
  return {
    join: (one: Waiting): void => {
      waiting.push(one);
    },
    isEmpty: () => waiting.length === 0,
    /** The first of the share whose last slot was longest ago. */
    next: (): Waiting | undefined => {
      const lastTurn = ({ share }: Waiting): number => turns.get(share) ?? 0;
      const [first, ...others] = waiting;
      if (first === undefined) return undefined;
      const next = others.reduce((best, one) => (lastTurn(one) < lastTurn(best) ? one : best), first);
      waiting = waiting.filter((one) => one !== next);
      turn += 1;
      turns.set(next.share, turn);
      if (waiting.length === 0) turns.clear();
      return next;
    },
  };
};

export const createSenderTurns = ({ reserve, now, sleep = sleepFor }: SenderTurnsDependencies): SenderTurns => {
  const lines = new Map<string, ReturnType<typeof createLine>>();
  const closing = new AbortController();

  const serve = async (sender: Sender, line: ReturnType<typeof createLine>): Promise<void> => {
    while (!line.isEmpty()) {
      try {
        if (!closing.signal.aborted) await sleep((await reserve(sender)).at - now(), closing.signal);
        line.next()?.decide(!closing.signal.aborted);
      } catch (error) {
        line.next()?.fail(error);
      }
    }
    lines.delete(sender.id);
  };

  return {
    take: (sender, share) => {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      const one = { share, decide: resolve, fail: reject };
      const line = lines.get(sender.id);
      if (line) line.join(one);
      else {
        const opened = createLine();
        opened.join(one);
        lines.set(sender.id, opened);
        void serve(sender, opened);
      }
      return promise;
    },
    close: () => closing.abort(),
  };
};
