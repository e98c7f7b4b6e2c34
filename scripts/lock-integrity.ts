/** Fills in the hashes that npm leaves out of the lock file: those of optional packages for other platforms. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

interface LockEntry {
  name?: string;
  version?: string;
  integrity?: string;
  link?: boolean;
}

export interface LockFile {
  packages: Record<string, LockEntry>;
}

const TIMEOUT_MS = 60_000;

const hashOf = async (name: string, version: string): Promise<string | undefined> => {
  const asked = promisify(execFile)('npm', ['view', `${name}@${version}`, 'dist.integrity'], { timeout: TIMEOUT_MS });
  const hash = await asked.then(({ stdout }) => stdout.trim()).catch(() => '');
  return /^sha512-[\w+/]{86}==$/.test(hash) ? hash : undefined;
};

/** The order of keys is npm's. */
const withHash = ({ name, version, ...rest }: LockEntry, integrity: string): LockEntry => ({
  ...(name === undefined ? {} : { name }),
  ...(version === undefined ? {} : { version }),
  integrity,
  ...rest,
});

/** Changes `lock`; gives the packages that got a hash, and those that the registry does not give. */
export const fillIntegrity = async ({ packages }: LockFile): Promise<{ filled: string[]; missing: string[] }> => {
  const filled: string[] = [];
  const missing: string[] = [];
  for (const [path, entry] of Object.entries(packages)) {
    const { version, integrity, link } = entry;
    if (path === '' || version === undefined || integrity !== undefined || link === true) continue;
    const name = entry.name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const hash = await hashOf(name, version);
    if (hash !== undefined) packages[path] = withHash(entry, hash);
    (hash === undefined ? missing : filled).push(`${name}@${version}`);
  }
  return { filled, missing };
};
