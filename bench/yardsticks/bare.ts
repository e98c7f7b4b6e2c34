/**
 * A bare pipeline, run in the daemon's place: what reading, deduplication, a ledger, durable jobs, signed POSTs, a log line and
 * metrics cost by the same libraries when there is nothing else. It has no retries, limits, fairness, guard or locks.
 */
import { createHash, createHmac, createSecretKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { destination, pino } from 'pino';
import { Counter, Histogram } from 'prom-client';
import { Pool } from 'undici';
import { chunksOf } from '../../src/chunks.ts';
import { createGroupCommit } from '../../src/redis/pipeline.ts';
import type { Inspection } from '../world/inspection.ts';

interface Alert {
  id: string;
  at: string;
  protocol: string;
  item: Inspection;
}

interface Parcel {
  url: string;
  alerts: Alert[];
}

const QUEUE = 'bare';
const PAGE = 100;
const PARCEL = 25;
const CONCURRENCY = 8;
const OVERLAP_MS = 5000;
const HOUR_MS = 3_600_000;

/** KEYS: the open alerts, then alerts; ARGV: by alert its date and what it is about. */
const WAIT = `
for i = 2, #KEYS do
  redis.call('HSET', KEYS[i], 'about', ARGV[2 * i - 2], 'delivery', 'waiting')
  redis.call('ZADD', KEYS[1], ARGV[2 * i - 3], KEYS[i])
end`;
/** The same keys; ARGV: by alert what became of it. */
const END = `
for i = 2, #KEYS do redis.call('HSET', KEYS[i], 'delivery', ARGV[i - 1]) end
redis.call('ZREM', KEYS[1], unpack(KEYS, 2))`;

const config = JSON.parse(readFileSync(process.argv.at(-1) ?? '', 'utf8')) as {
  redis: { url: string };
  services: { baseUrl: string }[];
};
const { origin, pathname } = new URL(config.services[0]?.baseUrl ?? '');
const connect = (): Redis => new Redis(config.redis.url, { maxRetriesPerRequest: null });
const redis = connect();
const queue = new Queue<Parcel>(QUEUE, { connection: redis, defaultJobOptions: { removeOnComplete: true } });
const service = new Pool(origin);
const receivers = new Map<string, Pool>();
const log = pino(
  { timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: (level) => ({ level }) } },
  destination({ dest: 1, sync: true }),
);
const deliveries = new Counter({ name: 'deliveries', help: '-', labelNames: ['kind', 'destination', 'outcome'] });
const duration = new Histogram({ name: 'duration', help: '-', labelNames: ['kind'] });
const latency = new Histogram({ name: 'latency', help: '-', labelNames: ['kind'] });
const key = createSecretKey('YmVuY2gg'.repeat(4), 'base64');

const openKey = (protocol: string): string => `open:${protocol}`;
const alertKey = ({ id }: Alert): string => `alert:${id}`;
const idOf = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

const get = async <T>(path: string): Promise<T> => {
  const { body } = await service.request({ method: 'GET', path: `${pathname}${path}` });
  return (await body.json()) as T;
};

/** Ledger, then queue, then what was seen. */
const ingest = async (protocol: string, url: string, alerts: readonly Alert[]): Promise<void> => {
  const known = await redis.zmscore(`seen:${protocol}`, ...alerts.map(({ id }) => id));
  const fresh = alerts.filter((_, index) => known[index] === null);
  if (fresh.length === 0) return;
  const keys = [openKey(protocol), ...fresh.map(alertKey)];
  const about = fresh.flatMap(({ at, item }) => [
    Date.parse(at),
    JSON.stringify([protocol, at, item._id, item.txHash]),
  ]);
  await redis.eval(WAIT, keys.length, ...keys, ...about);
  await queue.addBulk(
    chunksOf(fresh, PARCEL).map((some) => ({
      name: 'parcel',
      data: { url, alerts: some },
      opts: { jobId: some[0]?.id ?? '' },
    })),
  );
  await redis.zadd(`seen:${protocol}`, ...fresh.flatMap(({ id, at }) => [Date.parse(at), id]));
};

/** Reads what is dated after `since`; gives the last date. */
const poll = async (protocol: string, url: string, since: number): Promise<number> => {
  const query = `startDate=${new Date(since - OVERLAP_MS).toISOString()}&pageSize=${PAGE}`;
  let last = since;
  for (let number = 1; ; number += 1) {
    const path = `/${encodeURIComponent(protocol)}/inspections?${query}&pageNumber=${number}`;
    const { page } = await get<{ page: (Inspection & { createdAt: string })[] }>(path);
    if (page.length === 0) return last;
    const alerts = page.map((item) => ({ id: idOf(`${protocol} ${item._id}`), at: item.createdAt, protocol, item }));
    await ingest(protocol, url, alerts);
    last = Math.max(last, ...alerts.map(({ at }) => Date.parse(at)));
    if (page.length < PAGE) return last;
  }
};

const bodyOf = ({ at, protocol, item }: Alert): string => {
  const detections = Object.entries(item.detections as Record<string, { status: string; message: string }>);
  const fired = detections.filter(([, { status }]) => status !== 'notDetected');
  const said = fired.map(([, { message }]) => message).join('; ');
  const links = { transaction: `https://etherscan.io/tx/${item.txHash}` };
  const outline = { summary: `CRITICAL · ${protocol}: “${said}”`, detectors: fired.map(([id]) => id), links };
  return JSON.stringify({
    type: 'inspection.critical',
    timestamp: at,
    data: { protocol, ...outline, inspection: item },
  });
};

const post = async (url: URL, id: string, body: string): Promise<void> => {
  const pool = receivers.get(url.origin) ?? new Pool(url.origin);
  receivers.set(url.origin, pool);
  const timestamp = String(Math.floor(Date.now() / 1000));
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  const signed = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` };
  const headers = { 'content-type': 'application/json', ...signed };
  await (await pool.request({ method: 'POST', path: url.pathname, headers, body })).body.dump();
};

const ends = createGroupCommit(async (all: readonly { alert: Alert; end: string }[], open) => {
  const keys = [open, ...all.map(({ alert }) => alertKey(alert))];
  await redis.eval(END, keys.length, ...keys, ...all.map(({ end }) => end));
  return all.map(() => undefined);
}, 5);

const send = async (url: URL, alert: Alert): Promise<void> => {
  const begun = Date.now();
  await post(url, alert.id, bodyOf(alert));
  const durationMs = Date.now() - begun;
  deliveries.inc({ kind: 'webhook', destination: url.pathname, outcome: 'delivered' });
  duration.observe({ kind: 'webhook' }, durationMs / 1000);
  latency.observe({ kind: 'webhook' }, (Date.now() - Date.parse(alert.at)) / 1000);
  const { item, protocol } = alert;
  const about = { kind: 'webhook', outcome: 'delivered', durationMs, to: url.host, protocol };
  log.info({ ...about, items: [item._id], tx: [item.txHash] }, 'delivered');
};

const deliver = async ({ data: { url, alerts } }: { data: Parcel }): Promise<void> => {
  const to = new URL(url);
  const open = openKey(alerts[0]?.protocol ?? '');
  const waiting = await redis.zmscore(open, ...alerts.map(alertKey));
  const written: Promise<unknown>[] = [];
  for (const alert of alerts.filter((_, index) => waiting[index] !== null)) {
    await send(to, alert);
    written.push(ends.commit({ alert, end: `delivered ${Date.now()}` }, open));
  }
  await Promise.all(written);
};

const worker = new Worker<Parcel>(QUEUE, deliver, { connection: connect(), concurrency: CONCURRENCY });
worker.on('failed', (_, error) => log.error(error.message));
await worker.waitUntilReady();
process.on('SIGTERM', () => process.exit(0));
// As the daemon says that it works.
process.stdout.write('{"level":"info","ops":"http://127.0.0.1:1","msg":"started"}\n');

type Listing = [
  { page: { protocols: { descriptor: string; setttings: { notificationChannels: { url?: string }[] } } }[] },
];
const cursors = new Map<string, number>();
for (;;) {
  const [{ page }] = await get<Listing>('/protocols?pageNumber=1');
  for (const { protocols } of page) {
    const { descriptor, setttings } = protocols;
    const url = setttings.notificationChannels[0]?.url ?? '';
    const since = cursors.get(descriptor) ?? Date.now() - HOUR_MS;
    cursors.set(descriptor, await poll(descriptor, url, since));
  }
  await sleep(1000);
}
