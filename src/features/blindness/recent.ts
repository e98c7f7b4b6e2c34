/**
 * What this daemon has lately seen announced as unread. When another daemon tells that something is read again, this one
 * may see those reads a little later: until then it must not announce the same anew.
 */
import type { Blindness } from './store.ts';

export interface Recent {
  isWhole: boolean;
  protocols: ReadonlySet<string>;
}

interface Seen {
  wholeAt: number;
  protocols: Map<string, number>;
}

/** `keptMs`: how long that counts as lately. `elapsed`: milliseconds by a clock that nobody sets. */
export const createRecent = ({ keptMs, elapsed }: { keptMs: number; elapsed(): number }) => {
  const services = new Map<string, Seen>();
  return {
    note: (service: string, announced: readonly Blindness[]): void => {
      const at = elapsed();
      const seen = services.get(service) ?? { wholeAt: -Infinity, protocols: new Map<string, number>() };
      services.set(service, seen);
      if (announced.some(({ isWhole }) => isWhole)) seen.wholeAt = at;
      for (const { protocols } of announced) for (const name of protocols) seen.protocols.set(name, at);
      for (const [name, seenAt] of seen.protocols) if (at - seenAt >= keptMs) seen.protocols.delete(name);
    },
    of: (service: string): Recent => {
      const { wholeAt = -Infinity, protocols = new Map<string, number>() } = services.get(service) ?? {};
      const isRecent = (at: number): boolean => elapsed() - at < keptMs;
      const names = [...protocols].flatMap(([name, at]) => (isRecent(at) ? [name] : []));
      return { isWhole: isRecent(wholeAt), protocols: new Set(names) };
    },
  };
};
