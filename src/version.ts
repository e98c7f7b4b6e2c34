/** Which build this is: the version of package.json, and the commit that it was made from. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import packageJson from '../package.json' with { type: 'json' };
import { programPath } from './program-path.ts';

export interface Build {
  version: string;
  /** The beginning of the commit's hash, with `-dirty` where files differed from it. Absent where nobody knows. */
  revision?: string;
}

export const { version } = packageJson;

/** Asking git takes 10 ms; it must not hold up a start. */
const GIT_TIMEOUT_MS = 1000;
const DESCRIBE = ['--no-optional-locks', 'describe', '--always', '--dirty', '--exclude=*', '--abbrev=12'];

/** A build has it in a file beside this one. Only a checkout asks git, and only where it is the root of its repository. */
const findRevision = (): string => {
  const stamp = programPath('REVISION');
  if (existsSync(stamp)) return readFileSync(stamp, 'utf8').trim();
  if (!existsSync(programPath('../.git'))) return '';
  const options = { cwd: programPath('..'), timeout: GIT_TIMEOUT_MS, encoding: 'utf8' } as const;
  return execFileSync('git', DESCRIBE, { ...options, stdio: ['ignore', 'pipe', 'ignore'] }).trim();
};

const findBuild = (): Build => {
  try {
    const revision = findRevision();
    return { version, ...(/^[0-9a-f]{7,40}(-dirty)?$/.test(revision) && { revision }) };
  } catch {
    // No git, or a checkout that belongs to somebody else.
    return { version };
  }
};

let found: Build | undefined;

export const build = (): Build => {
  found ??= findBuild();
  return found;
};

/** As people read it. */
export const buildText = ({ version, revision }: Build): string =>
  revision === undefined ? version : `${version} (${revision})`;
