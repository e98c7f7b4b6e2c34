/** How long the last poll of each stream took, those of this daemon's share. */
import type { ProtocolValue } from './bounded-series.ts';

interface Polled {
  service: string;
  source: string;
  protocols: readonly string[];
}

/** What was not polled for so long is another daemon's by now, or gone. */
const FORGOTTEN_AFTER_MS = 3_600_000;

export const createPollDurations = (elapsed = (): number => performance.now()) => {
  const latest = new Map<string, ProtocolValue & { at: number }>();
  return {
    note: ({ service, source, protocols }: Polled, durationMs: number): void => {
      for (const protocol of protocols) {
        const key = JSON.stringify([service, source, protocol]);
        latest.set(key, { labels: { service, source, protocol }, value: durationMs / 1000, at: elapsed() });
      }
    },
    list: (): ProtocolValue[] => {
      for (const [key, { at }] of latest) if (elapsed() - at > FORGOTTEN_AFTER_MS) latest.delete(key);
      return [...latest.values()];
    },
  };
};
