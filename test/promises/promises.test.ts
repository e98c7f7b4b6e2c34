/** What docs/promises.md says is kept: what a release wrote or named is read and there in every later one. */
import { existsSync } from 'node:fs';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { parseRecord, parseSummary } from '../../src/ledger/encoding.ts';
import type { AlertRecord, DeliveryRecord } from '../../src/ledger/record.ts';
import { createMirror, type MirroredCursor } from '../../src/poll/mirror.ts';
import { type ParcelJob, readParcelJob } from '../../src/queue/job.ts';
import { ROOT, readDocument } from '../docs/documents.ts';
import { REPORT } from '../ops/report.ts';
import type { KeptStatus } from './kept/status.ts';
import { keptList, presentLists } from './lists.ts';

const kept = (name: string): string => join(import.meta.dirname, 'kept', name);
const read = async <T>(name: string): Promise<T> => JSON.parse(await readFile(kept(name), 'utf8')) as T;

test.each(Object.entries(presentLists()))('nothing is gone of the %s that were released', async (name, present) => {
  const released = await keptList(name);
  expect(released.length).toBeGreaterThan(20);
  expect(released.filter((line) => !present.includes(line))).toEqual([]);
});

test('jobs that were released are read, with everything that was in them', async () => {
  const jobs = await read<ParcelJob[]>('jobs.json');
  expect(jobs.length).toBeGreaterThan(1);
  for (const job of jobs) expect(readParcelJob(job)).toEqual(job);
});

test('records of the ledger that were released say what they said', async () => {
  const { alerts, deliveries } = await read<{
    alerts: { written: string; says: AlertRecord['alert'] }[];
    deliveries: { written: string; says: DeliveryRecord }[];
  }>('records.json');
  expect([alerts.length, deliveries.length]).toEqual([2, 4]);
  for (const { written, says } of alerts) expect(parseSummary(says.id, written)).toEqual(says);
  for (const { written, says } of deliveries) expect(parseRecord(says.destination.id, written)).toEqual(says);
});

test('a state file that was released is read', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-promises-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  // It is written again where it is.
  await copyFile(kept('state.json'), join(directory, 'state.json'));
  const mirror = createMirror(join(directory, 'state.json'));
  expect(await mirror.load()).toBeUndefined();
  const { cursors } = await read<{ cursors: Record<string, MirroredCursor> }>('state.json');
  for (const [key, cursor] of Object.entries(cursors)) {
    const [service = '', source, protocol = ''] = JSON.parse(key) as string[];
    expect(mirror.recall({ service, source: source as 'inspections', protocol })).toEqual(cursor);
  }
});

test('a config that was released loads', async () => {
  const text = await readFile(kept('config.yaml'), 'utf8');
  expect(text).not.toContain('#');
  const environment = {
    TOCSIN_API_KEY: 'key',
    SMTP_PASSWORD: 'password',
    TELEGRAM_TOKEN: '123456:token',
    SLACK_TOKEN: 'xoxb-token',
    WEBHOOK_SECRET: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  };
  expect(() => parseConfig(text, 'tocsin.yaml', environment)).not.toThrow();
});

test('a status has the fields that were released', () => {
  // The compiler says which one is gone, or means something else.
  const shown: KeptStatus = REPORT;
  expect(JSON.parse(JSON.stringify(shown))).toMatchObject({ version: '1.2.3', needsSomebody: [] });
});

test('the document names each format, with a test that is there', () => {
  const rows = readDocument('docs/promises.md')
    .split('\n')
    .filter((line) => /^\| \*\*/.test(line));
  expect(rows.map((row) => /\*\*([a-z -]+)\*\*/i.exec(row)?.[1]?.toLowerCase())).toEqual([
    'jobs',
    'records',
    'state',
    'config',
    'webhooks',
    'metrics',
    'commands',
    'json',
  ]);
  for (const row of rows) {
    const tests = row.match(/test\/[\w./-]+\.test\.ts/g) ?? [];
    expect(tests, row).not.toEqual([]);
    expect(tests.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  }
});
