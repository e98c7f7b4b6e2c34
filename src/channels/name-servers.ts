/** Asks the name servers of resolv.conf over sockets of our own, and not in the few threads of the system's lookup. */

import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

// Which full names a short one may stand for, by the search domains of resolv.conf: a container's peers have short names.

export interface SearchRule {
  domains: readonly string[];
  /** A name with at least this many dots is tried as it stands first. */
  ndots: number;
}

const MOST_NDOTS = 15;

/** Source: resolv.conf(5). The last `search` or `domain` counts, and so does the last `ndots`. */
const searchRuleOf = (text: string): SearchRule => {
  let [domains, ndots]: [string[], number] = [[], 1];
  for (const line of text.split('\n')) {
    const [word, ...values] = line.trim().split(/\s+/);
    if (word === 'search') domains = values;
    else if (word === 'domain') domains = values.slice(0, 1);
    else if (word === 'options') ndots = Number(/\bndots:(\d+)/.exec(line)?.[1] ?? ndots);
  }
  return { domains, ndots: Math.min(ndots, MOST_NDOTS) };
};

/** In the order in which they are to be asked for. */
export const fullNames = (host: string, { domains, ndots }: SearchRule): string[] => {
  if (host.endsWith('.')) return [host.slice(0, -1)];
  const searched = domains.map((domain) => `${host}.${domain}`.replace(/\.+$/, ''));
  return host.split('.').length - 1 >= ndots ? [host, ...searched] : [...searched, host];
};

/** Read each time: a network that comes or goes rewrites it. */
export const readSearchRule = async (path: string): Promise<SearchRule> =>
  searchRuleOf(await readFile(path, 'utf8').catch(() => ''));

/**
 * Why a name has no address: `ENOTFOUND`: the servers say that it has none. `ETIMEOUT`: they did not answer.
 * `EAI_AGAIN`: they cannot tell, or none is there.
 */
export type LookupCode = 'ENOTFOUND' | 'ETIMEOUT' | 'EAI_AGAIN' | 'DNS_BUSY';

export class LookupError extends Error {
  override readonly name = 'LookupError';
  readonly code: LookupCode;
  constructor(code: LookupCode) {
    super(code);
    this.code = code;
  }
}

/** For the first answer of each server; the second try waits twice as long. */
const FIRST_TRY_MS = 1500;
const TRIES = 2;

/** `EBADNAME` is a name that no server could hold. */
const HAS_NONE: readonly string[] = ['ENOTFOUND', 'ENODATA', 'EBADNAME'];
const UNANSWERED: readonly string[] = ['ETIMEOUT', 'ECANCELLED'];

const codeOf = (reason: unknown): string => String((reason as NodeJS.ErrnoException).code);

const verdict = (codes: readonly string[]): LookupCode => {
  if (codes.every((code) => HAS_NONE.includes(code))) return 'ENOTFOUND';
  return codes.some((code) => UNANSWERED.includes(code)) ? 'ETIMEOUT' : 'EAI_AGAIN';
};

/**
 * Both kinds of addresses of a full name. `servers`: `ADDRESS` or `ADDRESS:PORT`; default: those of resolv.conf, which is
 * read anew each time. Throws a `LookupError`.
 */
export const askNameServers = async (
  name: string,
  signal: AbortSignal,
  servers?: readonly string[],
): Promise<LookupAddress[]> => {
  if (signal.aborted) throw new LookupError('ETIMEOUT');
  const resolver = new Resolver({ timeout: FIRST_TRY_MS, tries: TRIES });
  if (servers) resolver.setServers(servers);
  const cancel = () => resolver.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  const [four, six] = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  signal.removeEventListener('abort', cancel);
  // IPv4 first, as nothing here knows whether IPv6 leads anywhere; the dialler tries both.
  const addresses = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length > 0) return addresses;
  const code = verdict([four, six].flatMap((one) => (one.status === 'rejected' ? codeOf(one.reason) : [])));
  // The resolver takes a server's refusal for an answer; the system's lookup would ask the next server.
  const [, ...others] = resolver.getServers();
  if (code === 'EAI_AGAIN' && others.length > 0) return askNameServers(name, signal, others);
  throw new LookupError(code);
};
