/** `tocsin audit` beside a running daemon, and what the daemon does of its own accord. */
import { Queue } from 'bullmq';
import { expect, onTestFinished, test } from 'vitest';
import type { AuditReport, sumOf } from '../../src/features/audit/balance.ts';
import { alertId } from '../../src/item.ts';
import { createAlertIndex } from '../../src/ledger/index-by-date.ts';
import { startWorld, type World, type WorldOptions } from '../scenario/world.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

const { redis } = openTestRedis();

type Printed = AuditReport & { balanced: boolean; totals: ReturnType<typeof sumOf> };

/**
 * A command knows the service's clock to the second once one protocol has been asked, so an inspection that is younger
 * than that is not yet part of the next one's audit. `poll.overlap` is longer: every poll finds it.
 */
const DATED_MS = 2000;

/** A daemon that has delivered four criticals: three of the vault, one of the bridge. */
const startDelivered = async (options: WorldOptions = {}) => {
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['webhook', 'slack'], ...options });
  const daemon = await world.start();
  const critical = (protocol: string) =>
    world.sandbox.service.insertInspection({
      protocol,
      assessment: 'critical',
      createdAt: Date.now() - DATED_MS,
    });
  world.calm('Vault', 4);
  const [inspection] = [critical('Vault'), critical('Vault'), critical('Vault')] as const;
  critical('Bridge');
  world.notification('Bridge', 'The weekly report is ready.');
  await world.delivered();
  await daemon.idle();
  // Delivered is not yet read to the end: before the first sweep is, nothing can be compared.
  await daemon.watching();
  return { world, daemon, inspection, console: await openConsole(world) };
};

const recordOf = ({ prefix }: World, itemId: string): string =>
  `${prefix}:alert:${alertId('sandbox', 'inspections', itemId)}`;

const webhookIds = ({ sandbox }: World, itemId: string): string[] =>
  sandbox.receivers.webhook
    .received()
    .filter(({ raw }) => raw.bodyText.includes(itemId))
    .map(({ raw }) => raw.id);

test('a healthy run is balanced', async () => {
  const { world, console } = await startDelivered();
  const { code, out } = await console.run('audit');
  expect(out).toContain('balanced: 4 listed, 4 delivered');
  expect(out).toMatch(/^Vault +3 +3 +0/m);
  expect(code).toBe(0);
  const report = await console.json<Printed>('audit', '--since', '1h');
  expect(report).toMatchObject({
    balanced: true,
    totals: { listed: 4, delivered: 4, missing: 0, lost: 0 },
    unaudited: [],
  });
  await world.balanced();
});

test('an item whose record is gone is named and sent again, under its own identity, and once', async () => {
  const { world, daemon, inspection, console } = await startDelivered();
  const [first] = webhookIds(world, inspection._id);
  await redis.del(recordOf(world, inspection._id));

  const looked = await console.run('audit', '--dry-run');
  expect(looked.code).toBe(2);
  expect(looked.out).toContain(
    `Vault: the ledger lacks inspection ${inspection._id}, transaction ${inspection.txHash}: not queued again`,
  );
  const { code, out } = await console.run('audit');
  expect(code).toBe(2);
  expect(out).toContain(`inspection ${inspection._id}, transaction ${inspection.txHash}: queued again`);
  expect(out).toContain('NOT balanced: 4 listed, 3 delivered + 1 missing');

  await until('it has come again', () => webhookIds(world, inspection._id).length === 2);
  expect(webhookIds(world, inspection._id)).toEqual([first, first]);
  await daemon.idle();
  expect((await console.run('audit')).code).toBe(0);
  world.critical('Vault');
  await world.delivered();
  expect(webhookIds(world, inspection._id)).toHaveLength(2);
});

test('an emptied record counts as none', async () => {
  const { world, inspection, console } = await startDelivered({ kinds: ['slack'] });
  const record = recordOf(world, inspection._id);
  const fields = (await redis.hkeys(record)).filter((field) => field.startsWith('slack-'));
  await redis.hdel(record, ...fields);
  const { code, out } = await console.run('audit');
  expect({ code, named: out.includes(inspection._id) }).toEqual({ code: 2, named: true });
  // Its message is recent, so it takes its own place there.
  const edit = await until('it has come again', () => world.sandbox.receivers.slack.edits().at(0));
  expect(edit.readable).toContain(inspection._id);
  expect(world.reconciler.balance()).toEqual({ missing: [], doubled: [], unexpected: [] });
});

test('the daemon finds and heals by itself, counts it and says it', async () => {
  const { world, daemon, inspection } = await startDelivered({ config: { audit: { every: '300ms' } } });
  await until('it was balanced', () => daemon.metric('tocsin_audits_total', { outcome: 'balanced' }));
  expect(await daemon.metric('tocsin_audit_differences_total')).toBe(0);
  await redis.del(recordOf(world, inspection._id));
  await until('it has come again', () => webhookIds(world, inspection._id).length === 2);
  await until('it was counted', () => daemon.metric('tocsin_audit_differences_total', { kind: 'missing' }));
  const [line] = daemon.log('the ledger lacks an item');
  expect(line).toMatchObject({
    level: 'error',
    protocol: 'Vault',
    item: inspection._id,
    txHash: inspection.txHash,
    queuedAgain: true,
  });
  const balanced = await daemon.metric('tocsin_audits_total', { outcome: 'balanced' });
  await until('it is balanced again', async () => {
    return (await daemon.metric('tocsin_audits_total', { outcome: 'balanced' })) > balanced + 1;
  });
  expect(await daemon.metric('tocsin_audit_differences_total')).toBe(1);
  expect(daemon.log('the ledger lacks an item')).toHaveLength(1);
});

test('a delivery whose job was lost is put on its way again', async () => {
  const world = await startWorld({
    names: ['Vault'],
    kinds: ['webhook', 'slack'],
    config: { audit: { lostAfter: '100ms' } },
  });
  const daemon = await world.start();
  await daemon.watching();
  const repair = world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 503 });
  const [inspection] = world.critical('Vault');
  if (!inspection) throw new Error('one was inserted');
  const queue = new Queue('deliver-webhook', { connection: redis, prefix: world.prefix });
  onTestFinished(() => queue.close());
  await until('it waits for another try', async () => (await queue.getDelayedCount()) === 1);

  const console = await openConsole(world);
  expect((await console.run('audit')).out).toContain('balanced: 1 listed, 1 waiting');
  for (const job of await queue.getDelayed()) await job.remove();
  const { out } = await until('it has been missing for long enough', async () => {
    const ended = await console.run('audit');
    return ended.code === 2 ? ended : undefined;
  });
  expect(out).toMatch(new RegExp(`Vault: the job of ${inspection._id} to webhook-\\w+ was lost: queued again`));
  repair();
  await world.balanced();
  await daemon.idle();
  const ended = await console.run('audit');
  expect({ code: ended.code, sum: ended.out.trim().split('\n').at(-1) }).toEqual({
    code: 0,
    sum: 'balanced: 2 listed, 2 delivered',
  });
});

test('what a full ledger has removed is not sent again', async () => {
  const { world, daemon, inspection, console } = await startDelivered();
  expect(await createAlertIndex(redis, world.prefix, Date.now, 0).trim()).toBe(5);
  const { code, out } = await console.run('audit', '--since', '1h');
  expect(out).toMatch(/^note: compared from .* UTC: the ledger was full and has removed older alerts$/m);
  expect(out).toContain('balanced: 0 listed');
  expect(code).toBe(0);
  await daemon.idle();
  expect(webhookIds(world, inspection._id)).toHaveLength(1);
});

test('what only one side has, and what the statistics say, is noted and is no difference', async () => {
  const { world, inspection, console } = await startDelivered();
  world.sandbox.service.removeInspection(inspection._id);
  world.sandbox.service.addFault({
    endpoint: 'inspectionStats',
    protocol: 'Bridge',
    fault: { kind: 'wrong-shape', body: { page: 1, critical: 99, suspicious: 0, total: 99 } },
    times: Number.POSITIVE_INFINITY,
  });
  const { code, out } = await console.run('audit');
  expect(code).toBe(0);
  expect(out).toContain('Vault: note: 1 in the ledger that the service no longer lists');
  expect(out).toContain("Bridge: note: the service's statistics count 99 critical, its list 1");
});

test('what no trigger asks for is wanted by nobody', async () => {
  const world = await startWorld({
    kinds: ['webhook'],
    protocols: [{ name: 'Vault' }, { name: 'Quiet', triggers: {} }],
    config: { alerts: { triggers: 'honour' } },
  });
  world.reconciler.excuse('webhook');
  await world.start();
  world.critical('Quiet', 2);
  world.critical('Vault', 1);
  await until('one has come', () => world.sandbox.received().length === 1);
  const console = await openConsole(world);
  const found = await until('all are read', async () => {
    const { code, out } = await console.run('audit', '--json');
    // 75: a protocol that no sweep has read to the end is not compared yet.
    if (code === 75) return undefined;
    const report = JSON.parse(out) as Printed;
    return report.totals.unread === 0 ? report : undefined;
  });
  expect(found).toMatchObject({ balanced: true, totals: { listed: 3, delivered: 1, unwanted: 2 } });
});

test('without an answer nothing is called balanced', async () => {
  const { world, console } = await startDelivered();
  const { service } = world.sandbox;
  service.addFault({ protocol: 'Bridge', fault: { kind: 'status', status: 500 }, times: Number.POSITIVE_INFINITY });
  const { code, out } = await console.run('audit');
  expect(code).toBe(75);
  expect(out).toMatch(/“Bridge”: not compared: .*500/);
  expect(out).toContain('3 listed, 3 delivered');
  const nowhere = await openConsole({
    ...world,
    configText: world.configText.replace(/url: .*/, 'url: redis://127.0.0.1:1'),
  });
  expect((await nowhere.run('audit')).code).toBe(75);
  expect((await console.run('audit', '--since', 'yesterday')).code).toBe(1);
});
