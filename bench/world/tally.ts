/** What has arrived at the receivers: each alert of each message, and the sums, which are cheaper to ask for. */
import type { ChannelKind } from '../../src/alert.ts';
import { inspectionsIn } from './inspection.ts';
import type { Arrival, Tally } from './world.ts';

export interface TallyDependencies {
  /** When the service gave an inspection first, and when it got it. */
  toldAt(id: string): number | undefined;
  writtenAt(id: string): number | undefined;
}

export const createTally = ({ toldAt, writtenAt }: TallyDependencies) => {
  let arrivals: Arrival[] = [];
  let seen = new Set<string>();
  let times: Omit<Tally, 'arrived' | 'messages'> = { firstToldAt: 0, firstAt: 0, lastAt: 0 };
  let messages = 0;

  const noteOne = (kind: ChannelKind, beganAt: number, id: string): void => {
    const told = toldAt(id) ?? Number.NaN;
    const ageMs = beganAt - (writtenAt(id) ?? Number.NaN);
    arrivals.push({ id, kind, beganAt, latencyMs: beganAt - told, ageMs });
    if (seen.size === 0) times = { firstToldAt: told, firstAt: beganAt, lastAt: beganAt };
    if (told < times.firstToldAt) times.firstToldAt = told;
    if (beganAt > times.lastAt) times.lastAt = beganAt;
    seen.add(`${kind}:${id}`);
  };

  return {
    note: (kind: ChannelKind, beganAt: number, content: string): void => {
      messages += 1;
      for (const id of inspectionsIn(content)) noteOne(kind, beganAt, id);
    },
    read: (): Tally => ({ arrived: seen.size, messages, ...times }),
    /** From here on the sums are those of what comes now. */
    reset: (): void => {
      seen = new Set();
      messages = 0;
      arrivals = [];
    },
    /** All arrivals since the last time. */
    take: (): Arrival[] => {
      const taken = arrivals;
      arrivals = [];
      return taken;
    },
  };
};
