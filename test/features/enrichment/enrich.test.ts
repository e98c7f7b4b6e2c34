/** Context on its way to alerts: from the catalog and the memory, and without them. */
import { expect, test } from 'vitest';
import { createEnrichment, type Knowledge } from '../../../src/features/enrichment/enrich.ts';
import { createFirstSeen } from '../../../src/features/enrichment/first-seen.ts';
import { inspectionAlert, notificationAlert } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const setUp = (
  protocolOf: () => Promise<Knowledge> = async () => ({ triggers: { critical: [['flashLoan']] } }),
  overrides: Record<string, { admins?: string[] }> = {},
) => {
  const { redis, prefix } = openTestRedis();
  const firstSeen = createFirstSeen(redis, prefix, Date.now);
  const warnings: unknown[] = [];
  const log = { warn: (line: unknown) => void warnings.push(line) };
  return { firstSeen, log, warnings, withContext: createEnrichment({ firstSeen, protocolOf, overrides, log }) };
};

test('an inspection gets it once and the same again; nothing else gets any', async () => {
  const { withContext } = setUp();
  const [first, second] = await withContext([makeAlert(1), makeAlert(2)]);
  expect(first?.context).toMatchObject({
    trigger: { matched: { number: 1 } },
    first: { origin: true, detectors: true },
  });
  expect(second?.context).toMatchObject({ first: { origin: false, detectors: false } });
  expect(await withContext([makeAlert(1)])).toMatchObject([{ context: { first: { origin: true, detectors: true } } }]);
  const others = [
    notificationAlert('x'),
    inspectionAlert({ type: 'test.sample' }),
    inspectionAlert({ followUp: { of: 'x', was: 'critical' } }),
  ];
  expect(await withContext(others)).toEqual(others);
});

test('history makes nothing known', async () => {
  const { withContext } = setUp();
  const [replayed] = await withContext([makeAlert(1, { replay: true })]);
  expect(replayed?.context).toMatchObject({ trigger: { groups: 1 } });
  expect(replayed?.context).not.toHaveProperty('first');
  const [fresh] = await withContext([makeAlert(2)]);
  expect(fresh?.context).toMatchObject({ first: { origin: true } });
});

test('a failure costs the context and not the alert, and is said once until it works again', async () => {
  let fails = true;
  const { withContext, warnings } = setUp(async () => {
    if (fails) throw new Error('Redis is away');
    return { triggers: { critical: [] } };
  });
  const bare = { ...makeAlert(1), context: {} };
  expect(await withContext([makeAlert(1)])).toEqual([bare]);
  expect(await withContext([makeAlert(1)])).toEqual([bare]);
  expect(warnings).toHaveLength(1);
  fails = false;
  expect(await withContext([makeAlert(1)])).toMatchObject([{ context: { trigger: { groups: 0 } } }]);
});

test('the admins of the config win over those of the service, also where that lists none', async () => {
  const origin = '0x7e7e';
  const alert = inspectionAlert({ item: { _id: '1', chainId: 1, txOrigin: origin, assets: [{ address: '0xaa' }] } });
  const listed = {
    address: '0xaa',
    chainId: '1',
    name: 'Vault',
    admins: [origin],
    adminsSince: { [origin]: Date.now() },
  };
  const contextWith = async (overrides: Record<string, { admins?: string[] }>, assets = [listed]) =>
    (await setUp(async () => ({ assets }), overrides).withContext([alert]))[0]?.context;
  const since = new Date(listed.adminsSince[origin] ?? 0).toISOString();
  expect(await contextWith({})).toMatchObject({ adminOf: ['Vault'], adminSince: since });
  const without = await contextWith({ [alert.protocol]: { admins: ['0xbb'] } });
  expect(without).toMatchObject({ adminOf: [] });
  expect(without).not.toHaveProperty('adminSince');
  expect(await contextWith({ [alert.protocol]: { admins: [origin] } }, [])).toMatchObject({ adminOf: ['0xaa'] });
});
