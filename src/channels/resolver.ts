/**
 * Resolves names that come from outside, by the system's lookup (getaddrinfo), which knows `/etc/hosts`, search domains, mDNS
 * and directories. It holds one of the process's threads until the name servers answer: 10 to 30 seconds where they stay
 * silent. So names from outside share a bound, which leaves threads for the lookups of Redis, the mail server and the
 * providers. Why: docs/decisions/064.
 */
import dns, { type LookupAddress } from 'node:dns';
import { createBoundedMap } from '../bounded-map.ts';
import { hostKey } from '../net.ts';

/** Every address of a host name. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

/**
 * Why a name has no address: `ENOTFOUND`: there is none. `ETIMEOUT`: the name servers did not answer in time. `EAI_AGAIN`: they
 * cannot tell, or none is there. `DNS_BUSY`: too many other names are looked up.
 */
type LookupCode = 'ENOTFOUND' | 'ETIMEOUT' | 'EAI_AGAIN' | 'DNS_BUSY';

const lookupError = (code: LookupCode) => Object.assign(new Error(code), { code });

export interface ResolverOptions {
  /** The operating system's lookup. */
  system?: Resolve;
  /** Names that are looked up at once; others wait, each as long as a lookup may take. */
  mostLookups?: number;
  /** For one lookup. */
  timeoutMs?: number;
  /** Epoch milliseconds. */
  now?(): number;
}

/** libuv gives lookups half of its threads at most (`THREADS` in `cli/heap.ts`). */
export const MOST_LOOKUPS = 48;
/** Waiting and lookup together stay below the time for a connection, so that a failure names its cause. */
const LOOKUP_TIMEOUT_MS = 4500;
/** A name without an address is not asked for again so soon. */
const NEGATIVE_MS = 30_000;
const MOST_NEGATIVE = 1000;

/** IPv4 first, as nothing here knows whether IPv6 leads anywhere; the dialler tries both. */
const systemLookup: Resolve = (host) =>
  new Promise((resolve, reject) => {
    dns.lookup(host, { all: true, order: 'ipv4first' }, (error, found) => (error ? reject(error) : resolve(found)));
  });

/** RFC 6761, section 6.3: such a name is this machine. The system knows it from `/etc/hosts`, but asks name servers as well. */
const isLocalhost = (host: string): boolean => /(^|\.)localhost$/.test(hostKey(host));
const isLoopback = ({ address }: LookupAddress): boolean => address === '::1' || address.startsWith('127.');

/** `most` slots; others wait for one. `take` throws `DNS_BUSY` where none came free in time. */
const createSlots = (most: number) => {
  let taken = 0;
  const waiting = new Set<() => void>();
  return {
    take: (signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        const enter = (): void => {
          taken += 1;
          signal.removeEventListener('abort', leave);
          resolve();
        };
        const leave = (): void => {
          waiting.delete(enter);
          reject(lookupError('DNS_BUSY'));
        };
        if (taken < most) return enter();
        waiting.add(enter);
        signal.addEventListener('abort', leave, { once: true });
      }),
    free: (): void => {
      taken -= 1;
      const [next] = waiting;
      if (next === undefined) return;
      waiting.delete(next);
      next();
    },
  };
};

/** The system's own codes name more causes than anybody can mend. */
const codeOf = (error: unknown): LookupCode =>
  (error as NodeJS.ErrnoException).code === 'ENOTFOUND' ? 'ENOTFOUND' : 'EAI_AGAIN';

/** Opens nothing yet. The function throws an error with a `LookupCode` where there is no address. */
export const createResolver = (options: ResolverOptions = {}): Resolve => {
  const { system = systemLookup, mostLookups = MOST_LOOKUPS, timeoutMs = LOOKUP_TIMEOUT_MS, now = Date.now } = options;
  const slots = createSlots(mostLookups);
  /** Names that had no address lately, and why. */
  const negative = createBoundedMap<string, { code: LookupCode; until: number }>(MOST_NEGATIVE);
  const onTheirWay = new Map<string, Promise<LookupAddress[]>>();

  const find = async (host: string): Promise<LookupAddress[]> => {
    await slots.take(AbortSignal.timeout(timeoutMs));
    const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
    const deadline = setTimeout(() => reject(lookupError('ETIMEOUT')), timeoutMs);
    system(host)
      // The thread is taken until the system's lookup ends, however long ago we gave up.
      .finally(slots.free)
      .then(resolve, (error: unknown) => reject(lookupError(codeOf(error))));
    return promise
      .catch((error: ReturnType<typeof lookupError>) => {
        negative.set(host, { code: error.code, until: now() + NEGATIVE_MS });
        throw error;
      })
      .finally(() => clearTimeout(deadline));
  };

  const look: Resolve = async (host) => {
    const running = onTheirWay.get(host);
    if (running !== undefined) return running;
    const missing = negative.get(host);
    if (missing !== undefined && now() < missing.until) throw lookupError(missing.code);
    const finding = find(host).finally(() => onTheirWay.delete(host));
    onTheirWay.set(host, finding);
    return finding;
  };

  return async (host) => {
    if (!isLocalhost(host)) return look(host);
    const own = (await look('localhost')).filter(isLoopback);
    if (own.length === 0) throw lookupError('ENOTFOUND');
    return own;
  };
};
