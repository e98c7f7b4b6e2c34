/**
 * Resolves names that come from outside. The system's lookup (getaddrinfo) has four threads for the whole process: a few
 * names whose servers stay silent would stop every lookup, also of the mail server and of Redis. So it is only asked
 * where the name servers know nothing, one name at once.
 */
import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostKey } from '../net.ts';
import { askNameServers, fullNames, type LookupCode, LookupError, readSearchRule } from './name-servers.ts';

// The names of the hosts file. The system's own lookup reads it before it asks a name server, so ours does as well.

type Names = ReadonlyMap<string, LookupAddress[]>;

/** Source: hosts(5). A name may stand in several lines. */
const namesOf = (text: string): Names => {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const alias of aliases) {
      const known = names.get(hostKey(alias));
      if (known) known.push({ address, family });
      else names.set(hostKey(alias), [{ address, family }]);
    }
  }
  return names;
};

const NONE: Names = new Map();

/** Gives the addresses of a name; none where the file does not name it or cannot be read. */
const createHostsFile = (path: string): ((host: string) => Promise<readonly LookupAddress[]>) => {
  let version = '';
  let names = NONE;

  /** A list that blocks advertisers has a hundred thousand lines, so only a changed file is read again. */
  const load = async (): Promise<Names> => {
    const { mtimeMs, size, ino } = await stat(path);
    const found = [mtimeMs, size, ino].join(' ');
    if (found !== version) {
      names = namesOf(await readFile(path, 'utf8'));
      version = found;
    }
    return names;
  };

  return async (host) => (await load().catch(() => NONE)).get(hostKey(host)) ?? [];
};

/** Every address of a host name. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

export interface ResolverOptions {
  /** `ADDRESS` or `ADDRESS:PORT`. Default: those of resolv.conf. */
  servers?: readonly string[];
  hostsFile?: string;
  resolvConf?: string;
  /** The operating system's lookup. */
  system?: Resolve;
  /** Names that are looked up at once; others wait, each as long as a lookup may take. */
  mostLookups?: number;
  /** For one lookup, all tries. */
  timeoutMs?: number;
  /** Epoch milliseconds. */
  now?(): number;
}

const MOST_LOOKUPS = 100;
/** Waiting and lookup together stay below the time for a connection, so that a failure names its cause. */
const LOOKUP_TIMEOUT_MS = 4500;
/** A name without an address is not asked for again so soon. */
const NEGATIVE_MS = 30_000;
const MOST_NEGATIVE = 1000;
/** One of the process's four threads. */
const MOST_SYSTEM_LOOKUPS = 1;

const systemLookup: Resolve = (host) => lookup(host, { all: true });

/** RFC 6761, section 6.3: never asked of a name server. */
const isLocalhost = (host: string): boolean => /(^|\.)localhost$/.test(hostKey(host));
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** `most` slots; others wait for one. Throws `DNS_BUSY` where none came free before the signal. */
const createSlots = (most: number) => {
  let taken = 0;
  const waiting = new Set<() => void>();

  const take = (signal: AbortSignal): Promise<void> =>
    new Promise((resolve, reject) => {
      const enter = (): void => {
        taken += 1;
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.delete(enter);
        reject(new LookupError('DNS_BUSY'));
      };
      if (signal.aborted) return leave();
      if (taken < most) return enter();
      waiting.add(enter);
      signal.addEventListener('abort', leave, { once: true });
    });

  return async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
    await take(signal);
    try {
      return await work();
    } finally {
      taken -= 1;
      const [next] = waiting;
      if (next) waiting.delete(next);
      next?.();
    }
  };
};

/** Names that had no address lately, and why. */
const createNegativeCache = (now: () => number) => {
  const entries = new Map<string, { code: LookupCode; until: number }>();
  return {
    check: (host: string): void => {
      const entry = entries.get(host);
      if (entry === undefined) return;
      if (now() < entry.until) throw new LookupError(entry.code);
      entries.delete(host);
    },
    note: (host: string, code: LookupCode): void => {
      entries.delete(host);
      entries.set(host, { code, until: now() + NEGATIVE_MS });
      for (const oldest of entries.keys()) if (entries.size > MOST_NEGATIVE) entries.delete(oldest);
    },
  };
};

/** What came before the signal; undefined: nothing, or a failure. */
const within = (work: Promise<LookupAddress[]>, signal: AbortSignal): Promise<LookupAddress[] | undefined> =>
  new Promise((resolve) => {
    const give = (found?: LookupAddress[]): void => {
      signal.removeEventListener('abort', late);
      resolve(found);
    };
    const late = (): void => give();
    signal.addEventListener('abort', late, { once: true });
    work.then(give, late);
  });

type Ask = (name: string, signal: AbortSignal) => Promise<LookupAddress[]>;

/** Each full name in turn, as the system's lookup does it. A server that is silent for one will be for the others. */
const askInTurn = async (names: readonly string[], signal: AbortSignal, ask: Ask): Promise<LookupAddress[]> => {
  let failure = new LookupError('ENOTFOUND');
  for (const name of names) {
    try {
      return await ask(name, signal);
    } catch (error) {
      if (!(error instanceof LookupError) || error.code === 'ETIMEOUT') throw error;
      if (error.code !== 'ENOTFOUND') failure = error;
    }
  }
  throw failure;
};

/** Opens nothing yet. The function throws a `LookupError` where there is no address. */
export const createResolver = (options: ResolverOptions = {}): Resolve => {
  const { servers, system = systemLookup, timeoutMs = LOOKUP_TIMEOUT_MS, now = Date.now } = options;
  const { hostsFile = '/etc/hosts', resolvConf = '/etc/resolv.conf', mostLookups = MOST_LOOKUPS } = options;
  const inHostsFile = createHostsFile(hostsFile);
  const takeSlot = createSlots(mostLookups);
  const takeSystemSlot = createSlots(MOST_SYSTEM_LOOKUPS);
  const negative = createNegativeCache(now);
  const onTheirWay = new Map<string, Promise<LookupAddress[]>>();

  /** Knows what no name server does: names of the local network, of other containers, of a directory. */
  const askSystem = async (host: string, signal: AbortSignal): Promise<LookupAddress[]> => {
    // The thread is taken until the system's lookup ends, however long ago we gave up.
    const looking = takeSystemSlot(signal, () => system(host));
    return (await within(looking, signal)) ?? [];
  };

  const find = async (host: string): Promise<LookupAddress[]> => {
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const names = fullNames(host, await readSearchRule(resolvConf));
      return await askInTurn(names, signal, (name) => askNameServers(name, signal, servers));
    } catch (error) {
      if (!(error instanceof LookupError)) throw error;
      // Silent servers would be silent for the system as well, and hold its thread.
      const found = error.code === 'ETIMEOUT' ? [] : await askSystem(host, signal);
      if (found.length > 0) return found;
      negative.note(host, error.code);
      throw error;
    }
  };

  const findInTurn = (host: string): Promise<LookupAddress[]> =>
    takeSlot(AbortSignal.timeout(timeoutMs), () => find(host));

  return async (host) => {
    const named = await inHostsFile(host);
    if (named.length > 0) return [...named];
    if (isLocalhost(host)) return [...LOOPBACK];
    const running = onTheirWay.get(host);
    if (running !== undefined) return running;
    negative.check(host);
    const finding = findInTurn(host).finally(() => onTheirWay.delete(host));
    onTheirWay.set(host, finding);
    return finding;
  };
};
