/** The names of the hosts file. The system's own lookup reads it before it asks a name server, so ours does as well. */
import type { LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { hostKey } from '../hosts.ts';

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
export const createHostsFile = (path: string): ((host: string) => Promise<readonly LookupAddress[]>) => {
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
