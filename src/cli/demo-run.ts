/** What `tocsin demo` runs: the embedded Redis, the sandbox and the daemon in one terminal, with a live account of all three. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../config/load.ts';
import { collectSecrets } from '../config/remarks.ts';
import { createDaemon } from '../daemon.ts';
import { createLogger } from '../ops/log.ts';
import { programPath } from '../program-path.ts';
import { createSandbox } from '../sandbox/sandbox.ts';
import { createScrubber } from '../secret.ts';
import { type Action, type CommandContext, EXIT, untilAborted } from './context.ts';
import { addStage, createAccount, FALLBACK, FALLBACK_AFTER_MS, playScenes } from './demo-account.ts';
import { releaseYoungGeneration } from './heap.ts';
import { durationOf } from './options.ts';
import { sandboxEnvironment } from './sandbox.ts';

const CONFIG = programPath('../config/demo.yaml');
const TRAFFIC = { everyMs: 500, critical: 0.12 };

const until = (signal: AbortSignal, durationMs: number | undefined): Promise<void> =>
  durationMs === undefined ? untilAborted(signal) : sleep(durationMs, undefined, { signal }).catch(() => {});

/** What a person needs of a line of the log. */
const logText = (line: string): string => {
  try {
    const { level, msg, why, message, error } = JSON.parse(line) as Record<string, unknown>;
    const reason = [message, why, error].find((each) => typeof each === 'string');
    return `${String(level)}: ${String(msg)}${reason === undefined ? '' : `: ${String(reason)}`}`;
  } catch {
    return line.trimEnd();
  }
};

/** The daemon's log would drown the demo's own lines: only warnings and errors are shown. */
const openDaemon = async (env: CommandContext['env'], warn: (text: string) => void) => {
  const loaded = await loadConfig(CONFIG, { TOCSIN_OPS_LISTEN: '127.0.0.1:0', ...env });
  const channels = [{ name: 'email' as const, contacts: [FALLBACK] }];
  const config = { ...loaded, fallback: { after: FALLBACK_AFTER_MS, until: 'delivered' as const, channels } };
  const scrub = createScrubber(collectSecrets(config));
  const log = createLogger({
    level: 'warn',
    scrub,
    destination: { write: (line) => warn(`          log       ${logText(line)}\n`) },
  });
  return createDaemon({ config, log, scrub });
};

export const runDemo: Action<{ for?: string; seed?: string }> = async (options, context) => {
  const durationMs = options.for === undefined ? undefined : durationOf(options.for, '--for', '30s');
  const dataDir = await mkdtemp(join(tmpdir(), 'tocsin-demo-'));
  const sandbox = createSandbox(options.seed === undefined ? {} : { seed: options.seed });
  const account = createAccount(context);
  try {
    const addresses = await sandbox.start();
    addStage(sandbox, addresses.service.apiKey);
    // Never the Redis of a real daemon, which a container names.
    const own = { TOCSIN_DATA_DIR: dataDir, TOCSIN_REDIS_URL: undefined };
    const env = { ...context.env, ...sandboxEnvironment(addresses), ...own };
    const daemon = await openDaemon(env, context.warn);
    try {
      const { opsUrl } = await daemon.start().finally(releaseYoungGeneration);
      account.opening(addresses, opsUrl);
      sandbox.onEvent(account.print);
      sandbox.startTraffic(TRAFFIC);
      const ended = new AbortController();
      const scenes = playScenes(sandbox, account.tell, ended.signal);
      await Promise.race([until(context.signal, durationMs), daemon.failed]);
      ended.abort();
      await scenes;
      sandbox.stopTraffic();
    } finally {
      await daemon.stop();
    }
    account.closing();
    return EXIT.done;
  } finally {
    await sandbox.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
};
