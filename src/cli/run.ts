/** `tocsin run`: the daemon in the foreground, until a signal or until it cannot go on. */
import { exposuresOf } from '../config/exposures.ts';
import { collectSecrets } from '../config/remarks.ts';
import type { Config } from '../config/schema.ts';
import { createConfigSource } from '../config/source.ts';
import { createDaemon, type DaemonDependencies } from '../daemon.ts';
import { createLogger, logFormOf, takeOutput } from '../ops/log.ts';
import { openTracing } from '../ops/tracing.ts';
import { createLearningScrubber } from '../secret.ts';
import { build } from '../version.ts';
import { type CommandContext, type CommonOptions, EXIT, type ExitCode, untilAborted } from './context.ts';
import { releaseYoungGeneration } from './heap.ts';

/** `limits`: a test gives smaller ones. */
export const run = async (
  options: CommonOptions,
  { env, signal, onHangup, isTty }: CommandContext,
  limits: DaemonDependencies['limits'] = {},
): Promise<ExitCode> => {
  // Often sent by habit, as by log rotation: it must end nothing, from the first moment on.
  let hangup = (): void => {};
  onHangup(() => hangup());
  const source = createConfigSource(options.config, env);
  const config = await source.read();
  const { scrub, learn, keep } = createLearningScrubber();
  keep(collectSecrets(config));
  let { format } = config.log;
  const log = createLogger({ level: config.log.level, scrub, form: () => logFormOf(format, { isTty, env }) });
  const warn = (read: Config): void => {
    for (const doubt of exposuresOf({ config: read, file: source.file, files: source.files() })) log.warn(doubt);
  };
  warn(config);
  const tracing = await openTracing(env, { build: build(), log, now: Date.now });
  const daemon = createDaemon({
    ...{ config, log, scrub, source, tracing, limits },
    onRead: (read) => learn(collectSecrets(read)),
    onReplaced: (next) => {
      keep(collectSecrets(next));
      log.level = next.log.level;
      format = next.log.format;
      warn(next);
    },
  });
  hangup = () => void daemon.reload('SIGHUP');
  const stop = async (): Promise<void> => {
    log.info('stopping: running sends may finish, the rest stays queued');
    const clean = await daemon.stop();
    await tracing?.stop();
    log.info({ clean }, 'stopped');
  };
  /** The last line says that it did not end as it should: nobody reads the lines before it first. */
  const stopFailed = async (what: string): Promise<void> => {
    await daemon.stop();
    await tracing?.stop();
    log.fatal({ clean: false }, `stopped: ${what}`);
  };
  const giveBack = takeOutput(log, Date.now);
  try {
    const started = daemon.start().finally(releaseYoungGeneration);
    const ended = await Promise.race([started.then(() => daemon.failed), untilAborted(signal).then(() => undefined)]);
    if (ended === undefined) {
      await stop();
      return EXIT.done;
    }
    log.fatal({ reason: ended }, 'the daemon cannot go on');
    await stopFailed('it could not go on');
    return EXIT.temporary;
  } catch (error) {
    log.fatal({ err: error }, 'the daemon cannot start');
    await stopFailed('it could not start');
    throw error;
  } finally {
    giveBack();
  }
};
