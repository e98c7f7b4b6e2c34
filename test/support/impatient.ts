/** `tocsin run` whose loops may stand still for seconds only, so that a test sees what becomes of one that does. */
import { run } from '../../src/cli/run.ts';

const { argv, env } = process;
const config = argv[argv.indexOf('--config') + 1] ?? '';
const stop = new AbortController();
const nothing = (): void => {};

const context = {
  ...{ env, signal: stop.signal, isTty: false, isErrorTty: false },
  ...{ onHangup: nothing, write: nothing, warn: nothing, show: nothing, raw: { write: nothing, warn: nothing } },
  readStdin: () => Promise.reject(new Error('standard input was read')),
};
const limits = {
  ...{ loopBoundMs: Number(env.LOOP_BOUND_MS), loopEndMs: Number(env.LOOP_END_MS) },
  maintenanceEveryMs: 300,
};
process.exit(await run({ config }, context, limits));
