/** A sandbox with one protocol, and a person who answers `tocsin init` in an empty directory. */
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSandbox, type SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { type Ran, runInProcess } from './in-process.ts';

/** A channel of each of these kinds. */
const CHANNELS = {
  email: { name: 'email', contacts: ['alerts@example.com'] },
  telegram: { name: 'telegram', contacts: ['-1001234567890'] },
  slack: { name: 'slack', contacts: ['C024BE91L'] },
} as const;

type Kinds = readonly (keyof typeof CHANNELS)[];

const channelsOf = (kinds: Kinds) => kinds.map((kind) => ({ name: kind, contacts: [...CHANNELS[kind].contacts] }));

/** `all`: the five protocols of the sandbox, each with a channel of every kind. */
export const startWorld = async (kinds: Kinds | 'all' = [], options: SandboxOptions = {}) => {
  const protocols = kinds === 'all' ? {} : { protocols: [{ name: 'Lending Pool', channels: channelsOf(kinds) }] };
  const sandbox = createSandbox({ ...protocols, ...options });
  onTestFinished(sandbox.stop);
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-init-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const addresses = await sandbox.start();
  const file = join(directory, 'conf/tocsin.yaml');
  const env = { TOCSIN_CONFIG: file, TOCSIN_DATA_DIR: join(directory, 'data') };
  const { slack, telegram } = addresses;
  const apis = ['--api-url', `slack=${slack.apiUrl}`, `telegram=${telegram.apiRoot}`];
  return {
    addresses,
    sandbox,
    file,
    directory,
    env,
    /** `tocsin init`, and what the person types. */
    answer: (answers: readonly string[], set: Record<string, string> = {}): Promise<Ran> =>
      runInProcess(['init', ...apis], { env: { ...env, ...set }, answers, tty: { err: true } }),
  };
};

export const isMissing = (file: string): Promise<boolean> =>
  stat(file).then(
    () => false,
    () => true,
  );
