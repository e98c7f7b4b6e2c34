/** What the last try at each destination was like, as far as this process remembers. */
import type { DeliveryReason } from '../errors.ts';
import type { Conduct } from './share-rule.ts';

export interface Tried {
  /** Absent where the message was taken. */
  reason?: string;
  durationMs: number;
}

export interface Conducts {
  of(destination: string): Conduct;
  /** Milliseconds that the next try may take, where the last ones timed out; undefined: the whole timeout. */
  probeMs(destination: string): number | undefined;
  note(destination: string, tried: Tried): void;
}

/** An answer that takes longer holds its place longer than others can wait for one. */
const SLOW_MS = 2000;

/** A receiver that hangs holds a place for so long, and longer only if it has answered more slowly before. */
const PROBE_MS = 5000;

/** Every third try in a row has the whole time: a receiver that is slow now gets its messages, too. */
const WHOLE_EVERY = 3;

/** Destinations that are slow or fail, of which one process remembers so many; the oldest are forgotten first. */
const MOST_REMEMBERED = 10_000;

/** These do not say whether the destination works. */
const INCONCLUSIVE: ReadonlySet<string> = new Set<DeliveryReason>(['rate-limited', 'bad-message', 're-address']);

interface Known {
  conduct: Conduct;
  /** Tries in a row that failed without an answer in time. */
  hangs: number;
  /** How long the last message took that it accepted. */
  answeredMs: number;
}

const after = (before: Known | undefined, { reason, durationMs }: Tried): Known => {
  const isSlow = durationMs > SLOW_MS;
  if (reason === undefined || INCONCLUSIVE.has(reason)) {
    return { conduct: isSlow ? 'slow' : 'well', hangs: 0, answeredMs: durationMs };
  }
  return { conduct: 'failing', hangs: isSlow ? (before?.hangs ?? 0) + 1 : 0, answeredMs: before?.answeredMs ?? 0 };
};

export const createConducts = (): Conducts => {
  const known = new Map<string, Known>();
  return {
    of: (destination) => known.get(destination)?.conduct ?? 'well',
    probeMs: (destination) => {
      const { hangs = 0, answeredMs = 0 } = known.get(destination) ?? {};
      return hangs % WHOLE_EVERY === 0 ? undefined : Math.max(PROBE_MS, 2 * answeredMs);
    },
    note: (destination, tried) => {
      const now = after(known.get(destination), tried);
      known.delete(destination);
      if (now.conduct === 'well') return;
      known.set(destination, now);
      const [oldest = ''] = known.keys();
      if (known.size > MOST_REMEMBERED) known.delete(oldest);
    },
  };
};
