/** The audit as a daemon repeats it: where each protocol goes on, what is counted and what is logged. */
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { Auditor } from '../../../src/features/audit/audit.ts';
import type { ProtocolAudit } from '../../../src/features/audit/balance.ts';
import { createAuditJob, createAuditMarks } from '../../../src/features/audit/job.ts';
import { emptyAudit } from '../../../src/features/audit/protocol.ts';
import { createConditions } from '../../../src/ops/conditions.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const signal = new AbortController().signal;

const item = (n: number) => ({ alertId: `alert-${n}`, itemId: `item-${n}`, txHash: `0x${n}`, assessment: 'critical' });
const items = (count: number) => Array.from({ length: count }, (_, n) => item(n));
const audit = (changes: Partial<ProtocolAudit> = {}): ProtocolAudit => ({
  ...emptyAudit('main', 'Vault', T0),
  ...changes,
});

interface Line {
  level: number;
  msg: string;
  [field: string]: unknown;
}

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const marks = createAuditMarks(redis, prefix);
  const metrics = createMetrics({ version: '1' });
  const lines: Line[] = [];
  const log = pino({ level: 'info', base: null }, { write: (line: string) => void lines.push(JSON.parse(line)) });
  const state = {
    audits: [audit()],
    unaudited: 0,
    runs: 0,
    trims: 0,
    removed: 0,
    asked: undefined as number | undefined,
    lostAfterMs: undefined as number | undefined,
  };
  const run: Auditor['run'] = async (service, { since, onAudited, lostAfterMs }) => {
    state.runs += 1;
    state.lostAfterMs = lostAfterMs;
    state.asked = since?.('Vault');
    for (const one of state.audits) await onAudited?.(one, { since: T0, closed: T0 + 60_000, until: T0 + 120_000 });
    const problem = { service, protocol: 'Bridge', problem: 'down' };
    return { protocols: state.audits, unaudited: Array.from({ length: state.unaudited }, () => problem) };
  };
  const auditor = { run };
  const trim = async () => {
    state.trims += 1;
    return state.removed;
  };
  const time = { now: T0 };
  const conditions = createConditions({ now: () => time.now });
  const job = createAuditJob({ auditor, marks, alertIndex: { trim }, metrics, conditions, everyMs: 300_000, log });
  const metric = async (name: string) =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith(`tocsin_${name}{`));
  const logged = () => lines.splice(0).map(({ level: _level, time: _time, ...line }) => line);
  return { job, marks, auditor, state, metric, logged, time, conditions };
};

test('goes on where it ended, and the ledger is trimmed', async () => {
  const { job, state, metric, logged } = setUp();
  await job.run('main', signal);
  expect(state.asked).toBeUndefined();
  await job.run('main', signal);
  expect(state.asked).toBe(T0 + 60_000);
  expect(state.trims).toBe(2);
  expect(await metric('audits_total')).toEqual(['tocsin_audits_total{service="main",outcome="balanced"} 2']);
  expect(await metric('audited_to_timestamp_seconds')).toEqual([
    `tocsin_audited_to_timestamp_seconds{service="main"} ${(T0 + 60_000) / 1000}`,
  ]);
  expect(logged()).toEqual([]);
});

test('says what it removes from a full ledger', async () => {
  const { job, state, logged } = setUp();
  state.removed = 7;
  await job.run('main', signal);
  expect(logged()).toEqual([{ removedAlerts: 7, msg: 'the ledger is full; its oldest alerts were removed' }]);
});

test('what could not be queued again is compared once more', async () => {
  const { job, marks, state, logged } = setUp();
  state.audits = [audit({ missing: [item(1)], healed: 0 })];
  await job.run('main', signal);
  expect((await marks.of('main'))('Vault')).toBeUndefined();
  expect(logged()).toEqual([
    {
      service: 'main',
      protocol: 'Vault',
      item: 'item-1',
      txHash: '0x1',
      alert: 'alert-1',
      queuedAgain: false,
      msg: 'the ledger lacks an item',
    },
  ]);
  state.audits = [audit({ missing: [item(1)], healed: 1 })];
  await job.run('main', signal);
  expect((await marks.of('main'))('Vault')).toBe(T0 + 60_000);
  expect(logged()).toMatchObject([{ queuedAgain: true }]);
});

test('differences are counted all and named up to a hundred of a protocol', async () => {
  const { job, state, metric, logged } = setUp();
  const lost = items(102).map(({ alertId, itemId }) => ({ alertId, itemId, destination: 'slack-1', healed: true }));
  state.audits = [audit({ missing: items(103), lost, healed: 205 })];
  await job.run('main', signal);
  const messages = Map.groupBy(logged(), ({ msg }) => msg);
  expect([...messages].map(([msg, all]) => [msg, all.length])).toEqual([
    ['the ledger lacks an item', 100],
    ['the ledger lacks more items', 1],
    ['a job was lost', 100],
    ['more jobs were lost', 1],
  ]);
  expect(messages.get('more jobs were lost')).toMatchObject([{ protocol: 'Vault', more: 2 }]);
  expect((await metric('audit_differences_total')).sort()).toEqual([
    'tocsin_audit_differences_total{service="main",protocol="Vault",kind="lost"} 102',
    'tocsin_audit_differences_total{service="main",protocol="Vault",kind="missing"} 103',
  ]);
  expect(await metric('audits_total')).toEqual(['tocsin_audits_total{service="main",outcome="difference"} 1']);
});

test('a disagreement with the statistics is logged once, until they agree again', async () => {
  const { job, state, logged } = setUp();
  const disagreeing = [audit({ disagreement: { critical: 5, listed: 4 } })];
  const msg = 'the statistics of the service disagree with its list';
  state.audits = disagreeing;
  await job.run('main', signal);
  await job.run('main', signal);
  expect(logged()).toEqual([{ service: 'main', protocol: 'Vault', critical: 5, listed: 4, msg }]);
  state.audits = [audit()];
  await job.run('main', signal);
  state.audits = disagreeing;
  await job.run('main', signal);
  expect(logged()).toMatchObject([{ msg }]);
});

test('a protocol that could not be compared makes the audit incomplete', async () => {
  const { job, state, metric } = setUp();
  state.unaudited = 1;
  await job.run('main', signal);
  expect(await metric('audits_total')).toEqual(['tocsin_audits_total{service="main",outcome="incomplete"} 1']);
});

test('one audit of a service at a time, and a failed one does not stop the next', async () => {
  const { job, auditor, state } = setUp();
  const gate = Promise.withResolvers<void>();
  const { run } = auditor;
  auditor.run = async (...args) => {
    await gate.promise;
    return run(...args);
  };
  const first = job.run('main', signal);
  await job.run('main', signal);
  gate.resolve();
  await first;
  expect(state.runs).toBe(1);
  auditor.run = async () => {
    throw new Error('Redis was away');
  };
  await expect(job.run('main', signal)).rejects.toThrow('Redis was away');
  auditor.run = run;
  await job.run('main', signal);
  expect(state.runs).toBe(2);
});

test('an urgent one is not skipped, waits for less, and comes after the one that runs', async () => {
  const { job, auditor, state } = setUp();
  const gate = Promise.withResolvers<void>();
  const { run } = auditor;
  auditor.run = async (...args) => {
    await gate.promise;
    return run(...args);
  };
  const regular = job.run('main', signal).then(() => state.lostAfterMs);
  const urgent = job.run('main', signal, { isUrgent: true }).then(() => state.lostAfterMs);
  gate.resolve();
  expect(await regular).toBeUndefined();
  expect(await urgent).toBe(5000);
  expect(state.runs).toBe(2);
});

test('differences are a trouble until two audits in a row could have found none', async () => {
  const { job, state, time, conditions } = setUp();
  await job.run('main', signal);
  expect(conditions.current()).toEqual([]);
  state.audits = [audit({ missing: items(2), healed: 2 })];
  await job.run('main', signal);
  expect(conditions.current()).toMatchObject([
    { name: 'audit', of: 'main', what: 'the audit of main found 2 deliveries that nobody had accounted for' },
  ]);
  state.audits = [audit()];
  time.now += 599_999;
  await job.run('main', signal);
  expect(conditions.current()).toHaveLength(1);
  time.now += 1;
  expect(conditions.current()).toEqual([]);
});
