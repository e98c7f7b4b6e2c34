import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { SlowFirst } from './test/support/slow-first.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/redis.setup.ts'],
    setupFiles: ['test/support/properties.setup.ts'],
    // For programs that a test starts: their start takes half as long.
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/node', import.meta.url)) },
    // The files of one worker share a process, so that each module is loaded once: half of the time that the suite takes.
    // A test leaves nothing behind: no variable of the environment, no connection, no timer.
    isolate: false,
    // Node itself strips the types, as it does for the program: nothing is transformed, and imports stay imports.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Whatever the machine has: scenarios wait most of the time. On two cores five take a fifth longer, nine as long.
    maxWorkers: 7,
    sequence: { sequencer: SlowFirst },
    // What is slow on a busy machine is not wrong: these only end what hangs.
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
