/** Prometheus Alertmanager, where it is installed: the same alerts through its API to one webhook, each alone. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { chunksOf } from '../../src/chunks.ts';
import { cpuOf } from '../stage/process.ts';
import { freePort } from '../stage/redis.ts';
import { inspectionOf } from '../world/inspection.ts';

const NAMES = ['prometheus-alertmanager', 'alertmanager'];
/** Prometheus sends up to so many in a request. */
const A_REQUEST = 64;
const START_MS = 10_000;

/** Its program; undefined where none is installed. */
export const findAlertmanager = (): string | undefined =>
  NAMES.find((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).status === 0);

/** A notification for each alert, at once, and none when it ends: what comes nearest to what Tocsin does. */
const configFor = (url: string): string =>
  JSON.stringify({
    route: {
      receiver: 'bench',
      group_by: ['finding'],
      group_wait: '0s',
      group_interval: '5m',
      repeat_interval: '4h',
    },
    receivers: [{ name: 'bench', webhook_configs: [{ url: `${url}/hooks/0`, send_resolved: false }] }],
  });

export interface Alertmanager {
  cpu(): number;
  /** Posts so many alerts, the first with this number. Gives when it began, in epoch milliseconds. */
  post(from: number, count: number): Promise<number>;
  stop(): Promise<void>;
}

const alertOf = (n: number) => {
  const inspection = inspectionOf(n, 'Protocol 0', Date.now());
  return {
    labels: { alertname: 'inspection', severity: 'critical', protocol: 'Protocol 0', finding: inspection._id },
    annotations: { inspection: JSON.stringify(inspection) },
    startsAt: new Date().toISOString(),
  };
};

const waitUntilReady = async (pool: Pool): Promise<void> => {
  for (const end = performance.now() + START_MS; ; await sleep(50)) {
    const answer = await pool.request({ path: '/-/ready', method: 'GET' }).catch(() => undefined);
    await answer?.body.dump();
    if (answer?.statusCode === 200) return;
    if (performance.now() > end) throw new Error('Alertmanager did not start');
  }
};

const postAll = async (pool: Pool, bodies: readonly string[]): Promise<void> => {
  const headers = { 'content-type': 'application/json' };
  for (const body of bodies) {
    const { statusCode, body: answer } = await pool.request({ path: '/api/v2/alerts', method: 'POST', headers, body });
    if (statusCode !== 200) throw new Error(`Alertmanager answered ${statusCode}: ${await answer.text()}`);
    await answer.dump();
  }
};

/** `url`: of the world. */
export const startAlertmanager = async (program: string, url: string): Promise<Alertmanager> => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-bench-alertmanager-'));
  const config = join(directory, 'alertmanager.yml');
  await writeFile(config, configFor(url));
  const port = await freePort();
  const args = [
    `--config.file=${config}`,
    `--storage.path=${join(directory, 'data')}`,
    `--web.listen-address=127.0.0.1:${port}`,
    '--cluster.listen-address=',
  ];
  const child = spawn(program, args, { stdio: 'ignore' });
  const ended = once(child, 'exit');
  const pool = new Pool(`http://127.0.0.1:${port}`, { connections: 1 });
  const stop = async (): Promise<void> => {
    await pool.destroy();
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGKILL');
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  await waitUntilReady(pool).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return {
    cpu: () => cpuOf(child.pid ?? 0),
    post: async (from, count) => {
      const alerts = Array.from({ length: count }, (_, index) => alertOf(from + index));
      const bodies = chunksOf(alerts, A_REQUEST).map((chunk) => JSON.stringify(chunk));
      const begunAt = performance.timeOrigin + performance.now();
      await postAll(pool, bodies);
      return begunAt;
    },
    stop,
  };
};
