/** Which full names a short one may stand for, by the search domains of resolv.conf: a container's peers have short names. */
import { readFile } from 'node:fs/promises';

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
