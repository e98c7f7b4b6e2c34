/** Prometheus' own judge of rules and queries, where it is installed: it comes with Prometheus. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Judged {
  status: number | null;
  said: string;
}

/** Why tests that ask it are skipped; undefined where it is there. */
export const lacksPromtool = (): string | undefined =>
  spawnSync('promtool', ['--version']).error === undefined
    ? undefined
    : 'promtool is not installed; it comes with Prometheus';

/** It runs for seconds, beside all else: a third of its time went into collecting garbage, on every core. */
const LEAN = { GOGC: '400', GOMAXPROCS: '1' };

/** Its words go into a file: a pipe would look like a leak to a test that ends meanwhile. */
const run = async (args: readonly string[], directory: string): Promise<Judged> => {
  const file = join(directory, 'said');
  const out = await open(file, 'w');
  const env = { ...process.env, ...LEAN };
  const tool = spawn('promtool', args, { stdio: ['ignore', out.fd, out.fd], env });
  const [status] = (await once(tool, 'exit').finally(() => out.close())) as [number | null];
  return { status, said: await readFile(file, 'utf8') };
};

const inDirectory = async (work: (directory: string) => Promise<Judged>): Promise<Judged> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-promtool-'));
  return work(directory).finally(() => rm(directory, { recursive: true }));
};

/** Each rule is looked at so often: as rarely as the shortest range of a rule allows, as it is what takes long. */
export const EVALUATED = { evaluation_interval: '2m' };

export const promtool = (...args: string[]): Promise<Judged> => inDirectory((directory) => run(args, directory));

/** The same on a file that holds `content`. */
export const promtoolOn = (content: object, ...args: string[]): Promise<Judged> =>
  inDirectory(async (directory) => {
    const file = join(directory, 'content.json');
    await writeFile(file, JSON.stringify(content));
    return run([...args, file], directory);
  });
