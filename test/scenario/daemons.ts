/** Daemons of a scenario: started in this process, asked over their ops endpoints, and surely stopped. */
import { get } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import type { Limits } from '../../src/app/context.ts';
import { collectSecrets } from '../../src/config/remarks.ts';
import type { Config } from '../../src/config/schema.ts';
import type { ConfigSource } from '../../src/config/source.ts';
import { createDaemon } from '../../src/daemon.ts';
import { createLogger } from '../../src/ops/log.ts';
import type { StatusReport } from '../../src/ops/status.ts';
import { createLearningScrubber } from '../../src/secret.ts';
import { undocumentedFields } from '../support/log-fields.ts';
import { until } from '../support/until.ts';

export interface LogLine {
  level: string;
  msg: string;
  [field: string]: unknown;
}

/** A daemon of this process or of another, as its ops endpoints show it. */
export interface AskedDaemon {
  ask(path: string): Promise<{ status: number; text: string }>;
  status(): Promise<StatusReport>;
  /** A metric's value, or the sum of those that carry these labels; 0 where there is none. */
  metric(name: string, labels?: Record<string, string>): Promise<number>;
  /** Resolves when every source of every protocol has been read once. */
  watching(): Promise<void>;
  /** Resolves when no queue holds anything. */
  idle(): Promise<void>;
}

export interface RunningDaemon extends AskedDaemon {
  /** `http://127.0.0.1:PORT` of its ops endpoints. */
  url: string;
  /** The log up to now, all levels; `msg` narrows it. */
  log(msg?: string): LogLine[];
  /** The log as it was written. */
  logText(): string;
  /** Reads its source again. */
  reload(cause: string): Promise<void>;
  /** Throws where something had to be left, once. May be called again. */
  stop(): Promise<void>;
}

/** Over a connection of its own, so that nothing of the question stays open. */
export const ask = (url: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    get(url, { agent: false }, (response) => {
      text(response).then((body) => resolve({ status: response.statusCode ?? 0, text: body }), reject);
    }).on('error', reject);
  });

const SAMPLE = /^([a-z_]+)(?:\{(.*)\})? (\S+)$/;

const sumOf = (metrics: string, name: string, labels: Record<string, string>): number =>
  metrics
    .split('\n')
    .map((line) => SAMPLE.exec(line) ?? [])
    .filter(([, sample]) => sample === name)
    .filter(([, , given = '']) => Object.entries(labels).every(([key, value]) => given.includes(`${key}="${value}"`)))
    .reduce((sum, [, , , value]) => sum + Number(value), 0);

/** `url` may change with each start of a process. */
export const askedAt = (url: () => string): AskedDaemon => {
  const asked = (path: string) => ask(`${url()}${path}`);
  /** A report asks Redis dozens of questions: whoever waits for one asks at leisure, and again where it came too late. */
  const nextStatus = async (): Promise<StatusReport | undefined> => {
    await delay(50);
    const answer = await asked('/status.json');
    return answer.status === 200 ? (JSON.parse(answer.text) as StatusReport) : undefined;
  };
  const status = (): Promise<StatusReport> => until('the status', nextStatus);
  return {
    ask: asked,
    status,
    metric: async (name, labels = {}) => sumOf((await asked('/metrics')).text, name, labels),
    watching: async () => {
      await until('every protocol is read', async () => {
        const sources = (await nextStatus())?.protocols.flatMap((protocol) => protocol.sources) ?? [];
        return sources.length > 0 && sources.every(({ lastPoll }) => lastPoll !== undefined);
      });
    },
    idle: async () => {
      await until('nothing is queued', async () => {
        const queues = (await nextStatus())?.queues;
        return queues?.every(({ waiting, delayed, active }) => waiting + delayed + active === 0);
      });
    },
  };
};

export interface DaemonOptions {
  source?: ConfigSource;
  /** Default: the world's. */
  config?: Config;
  /** Default: `Date.now`. */
  now?: () => number;
  /** Those that are left out are a daemon's own; but rounds of maintenance are short, so that no scenario waits for one. */
  limits?: Partial<Limits>;
}

/**
 * Starts a daemon on `config`; its log is kept, not shown. With a `source` it takes what is there when that changes. `now`
 * is its clock.
 */
export const startDaemon = async (config: Config, options: DaemonOptions = {}): Promise<RunningDaemon> => {
  const { source, now = Date.now, limits = {} } = options;
  const lines: string[] = [];
  const read: LogLine[] = [];
  const { scrub, learn } = createLearningScrubber();
  learn(collectSecrets(config));
  const log = createLogger({ level: 'trace', scrub, destination: { write: (line) => void lines.push(line) } });
  const daemon = createDaemon({
    ...{ config, log, scrub, now, limits: { maintenanceEveryMs: 1000, ...limits } },
    ...(source === undefined ? {} : { source }),
    onRead: (one) => learn(collectSecrets(one)),
  });
  const { opsUrl: url } = await daemon.start().catch(async (error: unknown) => {
    await daemon.stop();
    throw error;
  });

  let stopped = false;
  return {
    url,
    log: (msg) => {
      for (const line of lines.slice(read.length)) read.push(JSON.parse(line) as LogLine);
      return read.filter((line) => msg === undefined || line.msg === msg);
    },
    logText: () => lines.join(''),
    ...askedAt(() => url),
    reload: daemon.reload,
    stop: async () => {
      const isFirst = !stopped;
      stopped = true;
      await daemon.stop();
      const odd = undocumentedFields(lines.map((line) => JSON.parse(line) as LogLine));
      if (isFirst && odd.length > 0) throw new Error(`docs/logs.md does not know these fields so: ${odd.join('; ')}`);
      // The state file is synced to a disk that all tests write to: of all steps, this one may be late.
      const left = lines.filter((line) => line.includes('"msg":"stopping ') && !line.includes('"step":"state file"'));
      if (isFirst && left.length > 0) throw new Error(`the daemon did not stop cleanly: ${left.join('')}`);
    },
  };
};
