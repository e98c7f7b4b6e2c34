#!/usr/bin/env node
/** argv -> command; signals -> AbortSignal; error -> exit code. The only file with effects at its top level. */

/** Before all imports of ours, which an older Node could not read. */
if (Number.parseInt(process.versions.node, 10) < 24) {
  const found = `tocsin: this is Node ${process.versions.node} (${process.execPath})`;
  process.stderr.write(`${found}, and Tocsin needs Node 24 or newer: install that, and put it first in PATH\n`);
  process.exit(1);
}

/** A wish to read the config again must not end a daemon that has not read it yet: this comes before all imports of ours. */
let isHungUp = false;
const noteHangup = (): void => {
  isHungUp = true;
};
process.on('SIGHUP', noteHangup);
const { compileCacheOf, holdYoungGeneration, isRun, restartWithHeapFlags, staysUp, THREADS } = await import(
  './cli/heap.ts'
);
// Read when the first of them is needed.
process.env.UV_THREADPOOL_SIZE ??= String(THREADS);
const { join } = process.getBuiltinModule('node:path');
const { enableCompileCache } = process.getBuiltinModule('node:module');
const isDaemon = staysUp(process.argv.slice(2));
// A daemon keeps in memory what it has read of the cache: some 10 MB, which pay only where types have to be stripped.
const compileCache = isDaemon && import.meta.filename.endsWith('.js') ? undefined : compileCacheOf(process.env);
restartWithHeapFlags({ ...process.env, ...(compileCache !== undefined && { NODE_COMPILE_CACHE: compileCache }) });
if (compileCache !== undefined) enableCompileCache(compileCache);
if (isDaemon) holdYoungGeneration();
// Where `make setup` unpacks a redis-server that it cannot install.
process.env.PATH &&= `${process.env.PATH}:${join(import.meta.dirname, '../node_modules/.cache/redis/bin')}`;
// Loaded only now: a start that does not go on need not wait for it.
const { exitCodeOf, runProgram, wantsJson } = await import('./cli/program.ts');
const { isColoured } = await import('./cli/context.ts');
const { createPrompt } = await import('./cli/terminal.ts');
const { addAbortSignal } = await import('node:stream');
const { buffer } = await import('node:stream/consumers');
const { isatty } = await import('node:tty');

/** Exit codes of a stop that a second signal forces. */
const FORCED = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;
/** Ctrl-C under npm comes twice at once, from the terminal and from npm: that is one request to stop. */
const SAME_STOP_MS = 100;
const stop = new AbortController();
let stoppedAt = 0;

/** What SIGHUP means to the command that runs; a stop where it has not said. */
let hangup: (() => void) | undefined = isRun(process.argv.slice(2)) ? () => {} : undefined;
/** A hung-up terminal answers no question any more. Somebody closed it, and that is a stop for every command. */
const isTerminalGone = (): boolean => process.stdout.isTTY === true && !isatty(1);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (signal === 'SIGHUP' && hangup !== undefined && !isTerminalGone()) {
      hangup();
      return;
    }
    const isEcho = signal === 'SIGINT' && performance.now() - stoppedAt < SAME_STOP_MS;
    if (stop.signal.aborted && isEcho) return;
    if (stop.signal.aborted) process.exit(FORCED[signal]);
    stoppedAt = performance.now();
    stop.abort(new Error(`stopped by ${signal}`));
  });
}

process.off('SIGHUP', noteHangup);
// For any command but the daemon it was a wish to stop.
if (isHungUp && hangup === undefined) stop.abort(new Error('stopped by SIGHUP'));

// A reader that went away (`tocsin status | head`) is no error of ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
});

const { ask, askSecret, close } = createPrompt({
  input: process.stdin,
  output: process.stderr,
  signal: stop.signal,
  interrupt: () => process.kill(process.pid, 'SIGINT'),
});

const run = async (): Promise<number> => {
  try {
    return await runProgram(process.argv.slice(2), {
      env: process.env,
      signal: stop.signal,
      onHangup: (listener) => {
        hangup = listener;
      },
      isTty: process.stdout.isTTY === true,
      isColoured: isColoured(process.env, process.stdout.isTTY === true),
      // A container's terminal may say that it has 0 columns: it does not know.
      ...(process.stdout.isTTY && process.stdout.columns > 0 ? { width: process.stdout.columns } : {}),
      isErrorTty: process.stderr.isTTY === true,
      write: (text) => {
        process.stdout.write(text);
      },
      warn: (text) => {
        process.stderr.write(text);
      },
      ...(process.stdin.isTTY && process.stderr.isTTY ? { ask, askSecret } : {}),
      readStdin: () => buffer(addAbortSignal(stop.signal, process.stdin)),
    });
  } catch (error) {
    const { code, text } = exitCodeOf(error, wantsJson(process.argv));
    if (text !== '') process.stderr.write(`${text}\n`);
    return code;
  } finally {
    close();
  }
};

// Ends even where a library still holds a connection open: everything of ours was closed by the command.
process.exit(await run());
