/** The program as people start it: `node src/main.ts`, in a process of its own with an environment of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { until } from './until.ts';

export interface Program {
  process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Log lines with this message, read as JSON. */
  log(msg: string): { [field: string]: unknown }[];
  /** Sends a signal. */
  signal(name: 'SIGTERM' | 'SIGINT' | 'SIGHUP' | 'SIGKILL'): void;
  /** Resolves with the exit code; null where a signal ended it. */
  ended: Promise<number | null>;
}

export interface Ended {
  code: number | null;
  stdout: string;
  stderr: string;
}

export const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Only what Node needs, and what makes its start cheaper; nothing of the test run's own environment. */
const BASE = {
  PATH: process.env.PATH ?? '',
  NODE_NO_WARNINGS: '1',
  NODE_COMPILE_CACHE: join(ROOT, 'node_modules/.cache/node'),
};

/** Many are started at once, and each has its types stripped first. */
const START_MS = 60_000;

type OnFinished = (stop: () => Promise<void>) => void;

/**
 * Runs `tocsin ARGS`; killed with the test at the latest. `onFinished`: of a test that runs beside others. `main`: another
 * file than the source's.
 */
export const startProgram = (
  args: readonly string[],
  environment: Record<string, string> = {},
  onFinished: OnFinished = onTestFinished,
  main = MAIN,
): Program => startCommand([process.execPath, main, ...args], environment, onFinished);

/** The same for any command: one that starts the program, such as a container's. */
export const startCommand = (
  [command = '', ...args]: readonly string[],
  environment: Record<string, string> = {},
  onFinished: OnFinished = onTestFinished,
): Program => {
  const child = spawn(command, args, { cwd: ROOT, env: { ...BASE, ...environment } });
  const out: string[] = [];
  const err: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => out.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => err.push(text));
  const ended = once(child, 'close').then(([code]: (number | null)[]) => code ?? null);
  onFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const lines = (): string[] => out.join('').split('\n').filter(Boolean);
  return {
    process: child,
    stdout: () => out.join(''),
    stderr: () => err.join(''),
    log: (msg) =>
      lines()
        .filter((line) => line.includes(`"msg":"${msg}"`) && line.endsWith('}'))
        .map((line) => JSON.parse(line) as { [field: string]: unknown }),
    signal: (name) => void child.kill(name),
    ended,
  };
};

/** Runs `tocsin ARGS` to its end. */
export const runProgram = async (
  args: readonly string[],
  environment: Record<string, string> = {},
  onFinished: OnFinished = onTestFinished,
  main = MAIN,
): Promise<Ended> => {
  const program = startProgram(args, environment, onFinished, main);
  const code = await program.ended;
  return { code, stdout: program.stdout(), stderr: program.stderr() };
};

/** Starts `tocsin run` and waits until it works; gives the URL of its ops endpoints. */
export const startDaemonProgram = async (
  configFile: string,
  environment: Record<string, string>,
  onFinished: OnFinished = onTestFinished,
  main = MAIN,
): Promise<Program & { url: string }> => {
  const program = startProgram(['run', '--config', configFile], environment, onFinished, main);
  const isUp = () => {
    if (program.process.exitCode !== null) throw new Error(`it ended: ${program.stdout()}${program.stderr()}`);
    const lines = program.log('started');
    return lines.length > 0 ? lines : undefined;
  };
  const [started] = await until('the daemon has started', isUp, START_MS);
  return { ...program, url: String(started?.ops) };
};
