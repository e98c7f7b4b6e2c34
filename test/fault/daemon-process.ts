/** A daemon of the suite: `node src/main.ts run`, or a release as its unit starts it, in a process of its own, that can be hurt in every way and started again. */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from '../support/until.ts';
import type { Trouble } from './shims/trouble.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SHIM = new URL('./shims/trouble.ts', import.meta.url).href;
const START_MS = 60_000;

export interface DaemonSettings {
  /** Its files: config, log and data. */
  directory: string;
  configText: string;
  environment: Record<string, string>;
  /** The tree whose program it runs; default this one. */
  root?: string;
  /** Starts the program, which follows it, such as a shell that sets a limit. */
  command?: readonly string[];
}

export interface DaemonProcess {
  /** Resolves when it works. `root`: of another version from now on. */
  start(root?: string): Promise<void>;
  /** Ends it at once. */
  kill(): Promise<void>;
  /** SIGTERM; gives its exit code. */
  terminate(): Promise<number | null>;
  /** Replaces its config file, and asks it by SIGHUP to read it. */
  reload(configText: string): Promise<void>;
  configText: string;
  /** Suspends it and lets it go on. */
  freeze(): void;
  thaw(): void;
  /** Its clock and its name server, from within some milliseconds on. */
  trouble(trouble: Trouble): Promise<void>;
  dataDir: string;
  pid(): number | undefined;
  /** Of its ops endpoints, since it was started last. */
  url(): string;
  log(): Promise<string>;
  isRunning(): boolean;
}

/** How a tree is run: by its sources, or, of a release that was unpacked to `opt/current`, as its unit does it. */
const commandOf = async (root: string): Promise<string[]> => {
  const sources = join(root, 'src/main.ts');
  if (existsSync(sources)) return [process.execPath, '--import', SHIM, sources, 'run'];
  const unit = await readFile(join(root, 'deploy/tocsin.service'), 'utf8');
  const [, command = ''] = /^ExecStart=\/opt\/tocsin\/current\/(.+)$/m.exec(unit) ?? [];
  return join(root, command).split(' ');
};

/** The last start's line in a log. */
const startedIn = (log: string, from: number): string | undefined => {
  const line = log
    .slice(from)
    .split('\n')
    .find((each) => each.includes('"msg":"started"') && each.endsWith('}'));
  return line === undefined ? undefined : (JSON.parse(line) as { ops: string }).ops;
};

export const createDaemonProcess = async (settings: DaemonSettings): Promise<DaemonProcess> => {
  const { directory, configText, environment, command = [] } = settings;
  let root = settings.root ?? ROOT;
  await mkdir(directory, { recursive: true });
  const place = (name: string): string => join(directory, name);
  const [config, logFile, troubleFile] = [place('tocsin.yaml'), place('daemon.log'), place('trouble.json')];
  await writeFile(config, configText, { mode: 0o600 });
  const env = {
    PATH: process.env.PATH ?? '',
    NODE_NO_WARNINGS: '1',
    NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/node'),
    TOCSIN_FAULT_FILE: troubleFile,
    TOCSIN_DATA_DIR: place('data'),
    TOCSIN_OPS_LISTEN: '127.0.0.1:0',
    ...environment,
  };
  let child: ChildProcess | undefined;
  let ended: Promise<unknown> = Promise.resolve();
  let url = '';
  const isRunning = (): boolean => child !== undefined && child.exitCode === null && child.signalCode === null;
  const log = (): Promise<string> => readFile(logFile, 'utf8').catch(() => '');

  const trouble = async (given: Trouble): Promise<void> => {
    await writeFile(`${troubleFile}.new`, JSON.stringify(given));
    await rename(`${troubleFile}.new`, troubleFile);
  };
  const start = async (other?: string): Promise<void> => {
    root = other ?? root;
    const from = (await log()).length;
    const out = openSync(logFile, 'a');
    const [program = '', ...args] = [...command, ...(await commandOf(root)), '--config', config];
    child = spawn(program, args, { cwd: root, env, stdio: ['ignore', out, out] });
    closeSync(out);
    ended = once(child, 'exit');
    url = await until(
      'the daemon works',
      async () => {
        if (!isRunning()) throw new Error(`the daemon ended: ${(await log()).slice(-2000)}`);
        return startedIn(await log(), from);
      },
      START_MS,
    );
  };
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> => {
    if (isRunning()) child?.kill(signal);
    await ended;
    return child?.exitCode ?? null;
  };

  return {
    start,
    kill: async () => void (await end('SIGKILL')),
    terminate: () => end('SIGTERM'),
    reload: async (text) => {
      await writeFile(`${config}.new`, text, { mode: 0o600 });
      await rename(`${config}.new`, config);
      child?.kill('SIGHUP');
    },
    configText,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    trouble,
    dataDir: place('data'),
    pid: () => child?.pid,
    url: () => url,
    log,
    isRunning,
  };
};

/** Its metrics have this line, also for one who asked as the fault struck. */
export const metricsTell = (daemon: Pick<DaemonProcess, 'url'>, line: string, withinMs?: number): Promise<boolean> =>
  until(
    `the metrics tell ${line}`,
    async () => (await (await fetch(`${daemon.url()}/metrics`)).text()).includes(`\n${line}\n`),
    withinMs,
  );

/** `tocsin status`, as an operator runs it beside the daemon: its exit code, and what it says. */
export const statusOf = ({ dataDir }: Pick<DaemonProcess, 'dataDir'>): Promise<{ code: number; said: string }> =>
  new Promise((resolve) => {
    const args = [join(ROOT, 'src/main.ts'), 'status', '--config', join(dirname(dataDir), 'tocsin.yaml')];
    const env = { PATH: process.env.PATH ?? '', NODE_NO_WARNINGS: '1', TOCSIN_DATA_DIR: dataDir };
    const child = execFile(process.execPath, args, { env }, (_error, out, err) =>
      resolve({ code: child.exitCode ?? 0, said: `${out}${err}` }),
    );
  });
