import { expect, test } from 'vitest';
import { createDifferenceLog } from '../../../src/features/audit/job.ts';
import { emptyAudit } from '../../../src/features/audit/protocol.ts';
import { createMetrics } from '../../../src/ops/metrics.ts';
import { createLines } from '../../ops/lines.ts';

const OF = { service: 'main', protocol: 'Vault' };
const AUDIT = emptyAudit('main', 'Vault', 0);
const missing = (n: number) => ({ alertId: `a-${n}`, itemId: `i-${n}`, txHash: `0x${n}`, assessment: 'critical' });
const lost = (n: number) => ({ alertId: `a-${n}`, itemId: `i-${n}`, destination: 'slack-1', healed: n === 1 });

const setUp = () => {
  const { lines, log } = createLines();
  const metrics = createMetrics({ version: 'test' });
  const counted = async (): Promise<string[]> =>
    (await metrics.text()).split('\n').filter((line) => line.startsWith('tocsin_audit_differences_total{'));
  return { lines, counted, logDifferences: createDifferenceLog(metrics, log as never) };
};

test('an audit without differences says and counts nothing', async () => {
  const { lines, counted, logDifferences } = setUp();
  logDifferences(AUDIT);
  expect([lines, await counted()]).toEqual([[], []]);
});

test('each difference is named with what was done about it, and counted by its kind', async () => {
  const { lines, counted, logDifferences } = setUp();
  logDifferences({ ...AUDIT, missing: [missing(1), missing(2)], lost: [lost(1), lost(2)], healed: 3 });
  expect(lines.map(({ level, message, fields }) => [level, message, fields])).toEqual([
    ...[1, 2].map((n) => [
      'error',
      'the ledger lacks an item',
      { ...OF, item: `i-${n}`, txHash: `0x${n}`, alert: `a-${n}`, queuedAgain: true },
    ]),
    ...[1, 2].map((n) => [
      'error',
      'a job was lost',
      { ...OF, item: `i-${n}`, alert: `a-${n}`, destination: 'slack-1', queuedAgain: n === 1 },
    ]),
  ]);
  expect((await counted()).toSorted()).toEqual([
    'tocsin_audit_differences_total{service="main",protocol="Vault",kind="lost"} 2',
    'tocsin_audit_differences_total{service="main",protocol="Vault",kind="missing"} 2',
  ]);
});

test('beyond a hundred of a kind the rest is only counted', async () => {
  const { lines, counted, logDifferences } = setUp();
  logDifferences({ ...AUDIT, missing: Array.from({ length: 130 }, (_, n) => missing(n)) });
  expect(lines).toHaveLength(101);
  expect(lines.at(-1)).toMatchObject({ message: 'the ledger lacks more items', fields: { ...OF, more: 30 } });
  expect(await counted()).toEqual([
    'tocsin_audit_differences_total{service="main",protocol="Vault",kind="missing"} 130',
  ]);
});

test('a disagreement is logged once until the two agree again, each protocol by itself', () => {
  const { lines, logDifferences } = setUp();
  const disagreeing = { ...AUDIT, disagreement: { critical: 9, listed: 1 } };
  for (const audit of [disagreeing, disagreeing, { ...disagreeing, protocol: 'Bridge' }, AUDIT, disagreeing]) {
    logDifferences(audit);
  }
  expect(lines.map(({ level, fields }) => [level, fields.protocol, fields.critical])).toEqual([
    ['warn', 'Vault', 9],
    ['warn', 'Bridge', 9],
    ['warn', 'Vault', 9],
  ]);
});
