/**
 * The composition root: opens everything in order, hands each part what it needs, and closes in reverse. What outlives a
 * config is opened once, here; everything else is a generation, which `app/compose.ts` builds from one config.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { type Host, LIMITS, type Limits, monotonic } from './app/context.ts';
import { AT_STOP, createGenerations } from './app/generation.ts';
import { createLifecycle } from './app/lifecycle.ts';
import { startReporting } from './app/membership.ts';
import { openReloading } from './app/reload.ts';
import { openStore } from './app/store.ts';
import type { Config } from './config/schema.ts';
import type { ConfigSource } from './config/source.ts';
import { createConditions } from './ops/conditions.ts';
import { createMetrics } from './ops/metrics.ts';
import { createOpsServer } from './ops/server.ts';
import type { Tracing } from './ops/tracing.ts';
import { build } from './version.ts';

export interface DaemonDependencies {
  config: Config;
  log: Logger;
  scrub(text: string): string;
  /** Epoch milliseconds. Default `Date.now`. */
  now?(): number;
  /** Where the config comes from. With it a changed one is taken while the daemon runs. */
  source?: ConfigSource;
  /** Called with every config that is read again and found right, before anything is done with it. */
  onRead?(config: Config): void;
  /** Called with a config that came into force after another. */
  onReplaced?(config: Config): void;
  /** Where the traces of alerts go. Default: nowhere. */
  tracing?: Tracing | undefined;
  /** Those that are left out are `LIMITS`. */
  limits?: Partial<Limits>;
}

export const createDaemon = (dependencies: DaemonDependencies) => {
  const { config, log, scrub, tracing, now = Date.now } = dependencies;
  const limits = { ...LIMITS, ...dependencies.limits };
  const lifecycle = createLifecycle(log, AT_STOP.step);
  const stopping = new AbortController();
  const failed = Promise.withResolvers<string>();
  const started = Promise.withResolvers<ReturnType<typeof openReloading> | undefined>();
  let generations: ReturnType<typeof createGenerations> | undefined;
  let reloading: ReturnType<typeof openReloading> | undefined;

  const openHost = async (): Promise<Host> => {
    const hostConditions = createConditions({ now });
    const opened = await openStore({
      ...{ config, log, now, lifecycle, stopping: stopping.signal, fail: failed.resolve, limits },
      conditions: hostConditions,
      ...(tracing?.telemetry && { telemetry: tracing.telemetry }),
    });
    const metrics = createMetrics(build());
    lifecycle.onStop('loop delay', metrics.loopDelay.stop);
    metrics.configReloaded.set(1);
    metrics.configReloadedAt.set(now() / 1000);
    const beganAt = monotonic();
    const uptimeMs = (): number => Math.round(monotonic() - beganAt);
    const run = { daemonId: randomUUID(), startedAt: now(), uptimeMs, hostConditions };
    const reportConfig = () => reloading?.report() ?? {};
    return { ...opened, ...run, reportConfig, metrics, log, scrub, tracing, now, limits };
  };

  const work = async (host: Host) => {
    generations = createGenerations(host, {
      fail: failed.resolve,
      onReplaced: ({ endpoints }, replacement) => {
        server.use(endpoints);
        dependencies.onReplaced?.(replacement);
      },
    });
    const first = await generations.begin(config);
    // Up before any work begins, so that the start can be watched.
    const server = createOpsServer(first.endpoints);
    lifecycle.onStop('ops', server.stop);
    const urls = await server.start();
    await host.demandRedis();
    await first.start();
    return { urls, generations, first };
  };

  const start = async (): Promise<{ opsUrl: string }> => {
    const host = await openHost();
    const { urls, generations, first } = await work(host);
    const { source, onRead = () => {} } = dependencies;
    const onAnswered = (): void => reporting.tellNow();
    // With a source the config can be read again.
    if (source !== undefined)
      reloading = openReloading({ ...host, ...generations, source, onRead, onAnswered, stopping: stopping.signal });
    const selfReport = () => generations.selfReport() ?? first.selfReport();
    const reporting = startReporting(host, selfReport, stopping.signal);
    lifecycle.onStop('report', () => reporting.ended);
    reloading?.watch();
    started.resolve(reloading);
    const { url: ops, probesUrl: probes } = urls;
    const services = config.services.map(({ name }) => name);
    log.info({ ...build(), ops, ...(probes !== undefined && { probes }), services }, 'started');
    return { opsUrl: ops };
  };

  return {
    /** Resolves when everything is open; a service that is down does not hold it up. Throws where it cannot start at all. */
    start,
    /** Reads the config again once the daemon is up; `features/reload` says who hears what comes of it. Never rejects. */
    reload: async (cause: string): Promise<void> => {
      const reloading = await started.promise;
      if (reloading !== undefined && !stopping.signal.aborted) await reloading.request(cause);
    },
    /** Lets running sends end, then closes. Idempotent; legal before `start`. False where something did not close in time. */
    stop: async (): Promise<boolean> => {
      stopping.abort();
      const areClean = (await generations?.stop()) ?? true;
      return (await lifecycle.stop()) && areClean;
    },
    /** Resolves with the reason when the daemon cannot go on. */
    failed: failed.promise,
  };
};
