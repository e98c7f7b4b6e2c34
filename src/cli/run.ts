/** `tocsin run`: the daemon in the foreground, until a signal or until it cannot go on. */
import { oldPlaceOf } from '../config/data-dir.ts';
import { exposureOf } from '../config/exposure.ts';
import { loadConfig } from '../config/load.ts';
import { collectSecrets } from '../config/secrets.ts';
import { createDaemon } from '../daemon.ts';
import { createLogger } from '../ops/log.ts';
import { createScrubber } from '../secret.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode } from './context.ts';
import { releaseYoungGeneration } from './heap.ts';

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });

export const run = async (options: CommonOptions, { env, signal, onHangup }: CommandContext): Promise<ExitCode> => {
  const config = await loadConfig(options.config, env);
  const scrub = createScrubber(collectSecrets(config));
  const log = createLogger({ level: config.log.level, scrub });
  for (const doubt of [exposureOf(options.config, config), oldPlaceOf(options.config, config)]) {
    if (doubt !== undefined) log.warn(doubt);
  }
  // The usual wish to read the config again, often sent by habit (log rotation): it must not end what people rely on.
  onHangup(() => log.warn('SIGHUP is ignored: the config is read at the start only; restart the daemon to change it'));
  const daemon = createDaemon({ config, log, scrub });
  const stop = async (): Promise<void> => {
    log.info('stopping: running sends may finish, the rest stays queued');
    const clean = await daemon.stop();
    log.info({ clean }, 'stopped');
  };
  try {
    const started = daemon.start().finally(releaseYoungGeneration);
    const ended = await Promise.race([started.then(() => daemon.failed), aborted(signal).then(() => undefined)]);
    await stop();
    if (ended === undefined) return EXIT.done;
    log.fatal({ reason: ended }, 'the daemon cannot go on');
    return EXIT.temporary;
  } catch (error) {
    log.fatal({ err: error }, 'the daemon cannot start');
    await stop();
    throw error;
  }
};
