/** The daemon as people run it: a process of its own, its log in a file. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { programEnvironment } from './image.ts';
import { cpuOf, memoryOf, peakMemoryOf } from './process.ts';

export interface DaemonSettings {
  /** What to run: `src/main.ts` of this tree or of another version. */
  program: string;
  /** Of its log. */
  directory: string;
  config: string;
  /** Besides what every daemon has. */
  environment?: Readonly<Record<string, string>>;
  /** A program that starts it, such as taskset, with its arguments. */
  prefix?: readonly string[];
  /** Whether it tells how much it allocates. */
  countsAllocations?: boolean;
}

export interface DaemonProcess {
  pid: number;
  /** From its start until its log said that it works. */
  startSeconds: number;
  /** Of CPU, until then. */
  startCpuSeconds: number;
  /** Address of its ops endpoints. */
  ops: string;
  /** Seconds since its start. */
  cpu(): number;
  /** MB. */
  memory(): number;
  peakMemory(): number;
  /** Bytes on its heap since its start; NaN where it does not tell. */
  allocated(): number;
  /** How long its event loop stood still at most since this was last asked, in milliseconds. */
  longestBlock(): Promise<number>;
  /** What its log has besides information, by message, each with how often and the last reason. */
  complaints(): string[];
  /** Resolves when it has ended, by itself or by us. */
  ended: Promise<unknown>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

export const PROGRAM = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const START_MS = 60_000;
const STOP_MS = 15_000;

let started = 0;

const isRunning = (child: ChildProcess): boolean => child.exitCode === null && child.signalCode === null;

const waitForStart = async (child: ChildProcess, log: string): Promise<string> => {
  for (const end = performance.now() + START_MS; performance.now() < end; await sleep(10)) {
    const text = readFileSync(log, 'utf8');
    const ops = /^\{.*"ops":"([^"]+)".*"msg":"started"/m.exec(text)?.[1];
    if (ops !== undefined) return ops;
    if (!isRunning(child)) throw new Error(`the daemon ended: ${text.slice(-2000)}`);
  }
  throw new Error('the daemon did not start in time');
};

/** A request that ran when the bench ended its daemon. */
const OUR_STOP = 'stopped by the caller';

const complaintsIn = (log: string): string[] => {
  const complaints = new Map<string, { times: number; reason: string }>();
  for (const line of readFileSync(log, 'utf8').split('\n')) {
    if (line === '' || line.includes('"level":"info"') || !line.startsWith('{') || !line.endsWith('}')) continue;
    if (line.includes(OUR_STOP)) continue;
    const { msg, err, message = '' } = JSON.parse(line) as { msg: string; err?: { message: string }; message?: string };
    complaints.set(msg, { times: (complaints.get(msg)?.times ?? 0) + 1, reason: err?.message ?? message });
  }
  return [...complaints].map(([msg, { times, reason }]) => `logged ${times} times: ${msg}: ${reason}`);
};

const longestBlockOf = async (ops: string): Promise<number> => {
  const text = await (await fetch(`${ops}/metrics`)).text();
  const seconds = Number(/^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(text)?.[1]);
  return seconds * 1000;
};

const ALLOCATIONS = new URL('./allocations.ts', import.meta.url);

export const startDaemon = async (settings: DaemonSettings) => {
  const { program, directory, config, environment = {}, prefix = [], countsAllocations = false } = settings;
  started += 1;
  const log = join(directory, `daemon-${started}.log`);
  const allocations = join(directory, `allocations-${started}`);
  const counting = { NODE_OPTIONS: `--import=${ALLOCATIONS}`, BENCH_ALLOCATIONS: allocations };
  const out = openSync(log, 'a');
  const [first = '', ...args] = [...prefix, process.execPath, program, 'run', '--config', config];
  const begunAt = performance.now();
  const child = spawn(first, args, {
    env: { ...programEnvironment(), ...environment, ...(countsAllocations && counting) },
    stdio: ['ignore', out, out],
  });
  closeSync(out);
  const ended = once(child, 'exit');
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (isRunning(child)) child.kill(signal);
    await ended;
  };
  const ops = await waitForStart(child, log).catch(async (error: unknown) => {
    await end('SIGKILL');
    throw error;
  });
  const pid = child.pid ?? 0;
  const daemon: DaemonProcess = {
    pid,
    startSeconds: (performance.now() - begunAt) / 1000,
    startCpuSeconds: cpuOf(pid),
    ops,
    cpu: () => cpuOf(pid),
    memory: () => memoryOf(pid),
    peakMemory: () => peakMemoryOf(pid),
    allocated: () => (countsAllocations ? Number(readFileSync(allocations, 'utf8')) : Number.NaN),
    longestBlock: () => longestBlockOf(ops),
    complaints: () => complaintsIn(log),
    ended,
    kill: () => end('SIGKILL'),
    stop: async () => {
      const late = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await end('SIGTERM');
      clearTimeout(late);
    },
  };
  return daemon;
};
