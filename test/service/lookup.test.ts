/** Reading inspections again: found, gone, or unknown from the answers; gone only where that is sure. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Quirks } from '../../src/sandbox/service/quirks.ts';
import { createSandboxService, type SandboxService } from '../../src/sandbox/service/service.ts';
import { createSecret } from '../../src/secret.ts';
import { createServiceClock } from '../../src/service/client.ts';
import { createLookup, type Wanted } from '../../src/service/lookup.ts';
import { clientOf, failureOf, never } from './harness.ts';

const API_KEY = 'sandbox-test-key';
const HASH = `0x${'ab'.repeat(32)}`;
const UNKNOWN: Wanted = { itemId: 'f'.repeat(24), txHash: `0x${'cd'.repeat(32)}` };

const setUp = async (quirks: Partial<Quirks> = {}) => {
  const protocols = [{ name: 'Vault', channels: [] }];
  const sandbox = createSandboxService({ apiKeys: [{ apiKey: API_KEY, protocols }], quirks });
  onTestFinished(() => sandbox.stop());
  const { url } = await sandbox.start();
  const client = clientOf(url, { apiKey: createSecret(API_KEY) });
  const lookUp = createLookup(client, createServiceClock(Date.now));
  const kinds = async (wanted: readonly Wanted[]): Promise<string[]> => {
    const sightings = await lookUp('Vault', wanted, never);
    return wanted.map(({ itemId }) => sightings.get(itemId)?.kind ?? 'nothing');
  };
  return { sandbox, lookUp, kinds };
};

const fill = (sandbox: SandboxService, count: number): Wanted[] =>
  Array.from({ length: count }, () => {
    const { _id: itemId, txHash } = sandbox.insertInspection({ protocol: 'Vault' });
    return { itemId, txHash };
  });

describe('a lookup', () => {
  test('finds many by their ids in few requests, as they are now', async () => {
    const { sandbox, lookUp } = await setUp();
    const wanted = fill(sandbox, 45);
    sandbox.changeInspection(wanted[7]?.itemId ?? '', { assessment: 'critical' });
    const sightings = await lookUp('Vault', wanted, never);
    expect(sandbox.requests()).toHaveLength(3);
    expect([...sightings.values()].every(({ kind }) => kind === 'found')).toBe(true);
    expect(sightings.get(wanted[7]?.itemId ?? '')).toMatchObject({ item: { assessment: 'critical' } });
  });

  test('says which are gone', async () => {
    const { sandbox, kinds } = await setUp();
    const [kept, removed] = fill(sandbox, 2);
    if (!kept || !removed) throw new Error('two were wanted');
    sandbox.removeInspection(removed.itemId);
    expect(await kinds([kept, removed, { itemId: UNKNOWN.itemId }])).toEqual(['found', 'gone', 'gone']);
  });

  test.each<[string, Partial<Quirks>]>([
    ['lists in brackets', { arrayParams: 'brackets' }],
    ['lists by comma', { arrayParams: 'comma' }],
    ['pages of one item', { maxPageSize: 1 }],
    ['pages counted from 0 and without numbers', { firstPage: 0, pageNumberEcho: 'missing', maxPageSize: 2 }],
  ])('is right with %s', async (_name, quirks) => {
    const { sandbox, kinds } = await setUp(quirks);
    const wanted = fill(sandbox, 25);
    const [first] = wanted;
    sandbox.removeInspection(first?.itemId ?? '');
    expect(await kinds([...wanted, UNKNOWN])).toEqual(['gone', ...wanted.slice(1).map(() => 'found'), 'gone']);
  });

  test('finds the one of several inspections of a transaction', async () => {
    const { sandbox, kinds } = await setUp({ arrayParams: 'brackets', maxPageSize: 2 });
    const alike = Array.from({ length: 5 }, () => sandbox.insertInspection({ protocol: 'Vault', txHash: HASH })._id);
    const wanted = alike.map((itemId) => ({ itemId, txHash: HASH }));
    sandbox.removeInspection(alike[4] ?? '');
    expect(await kinds(wanted)).toEqual(['found', 'found', 'found', 'found', 'gone']);
  });

  test('takes no answer for a sign that did not cover it', async () => {
    const { sandbox, kinds } = await setUp();
    fill(sandbox, 3);
    sandbox.addFault({ fault: { kind: 'malformed-item' }, times: Number.POSITIVE_INFINITY });
    expect(await kinds([UNKNOWN])).toEqual(['unsure']);
    sandbox.clearFaults();
    const other = { txHash: HASH, protocol: 'Vault' };
    const page = [{ _id: 'e'.repeat(24), assessment: 'ok', ...other }];
    const body = { page, pageNumber: 1, total: 1 };
    sandbox.addFault({ fault: { kind: 'wrong-shape', body }, times: Number.POSITIVE_INFINITY });
    expect(await kinds([UNKNOWN, { itemId: UNKNOWN.itemId }])).toEqual(['unsure', 'unsure']);
  });

  test('without an answer nothing is known', async () => {
    const { sandbox, lookUp } = await setUp();
    sandbox.addFault({ fault: { kind: 'status', status: 503 } });
    expect((await failureOf(lookUp('Vault', [UNKNOWN], never))).reason).toBe('failed');
    expect((await failureOf(lookUp('Unlisted', [UNKNOWN], never))).reason).toBe('missing');
  });
});
