import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  type Account,
  balance,
  disagreementOf,
  FATES,
  fateOf,
  isBalanced,
  isMissingHealed,
  type ListedItem,
  type ProtocolAudit,
  sumOf,
} from '../../../src/features/audit/balance.ts';

const item = (id: string): ListedItem => ({ alertId: id, itemId: `item of ${id}`, assessment: 'critical' });

const auditOf = (changes: Partial<ProtocolAudit> = {}): ProtocolAudit => ({
  service: 'main',
  protocol: 'Vault',
  since: '2026-11-20T10:00:00.000Z',
  until: '2026-11-20T11:00:00.000Z',
  ...balance({ listed: [], accounts: new Map(), recorded: [] }),
  lost: [],
  healed: 0,
  ...changes,
});

describe('the fate of an alert', () => {
  test.each([
    [[], undefined],
    [['delivered', 'delivered'], 'delivered'],
    [['delivered', 'waiting', 'dead'], 'waiting'],
    [['delivered', 'dead', 'muted'], 'dead'],
    [['muted', 'delivered'], 'delivered'],
    [['muted'], 'muted'],
  ] as const)('of %j is %s', (states, fate) => {
    expect(fateOf(states)).toBe(fate);
  });
});

describe('the balance', () => {
  test('accounts for every listed item once, whatever became of it', () => {
    const account = fc.constantFrom<Account>(...FATES, 'unwanted', 'unread', 'unknown');
    const ids = fc.uniqueArray(fc.string({ maxLength: 3 }), { maxLength: 30 });
    fc.assert(
      fc.property(ids, fc.infiniteStream(account), ids, (listedIds, stream, recorded) => {
        const listed = [...listedIds, ...listedIds.slice(0, 3)].map(item);
        const accounts = new Map(listedIds.map((id) => [id, stream.next().value ?? 'unknown']));
        const { listed: count, counts, missing, onlyBooked } = balance({ listed, accounts, recorded });
        const accounted = Object.values(counts).reduce((sum, each) => sum + each, 0);
        expect(count).toBe(listedIds.length);
        expect(accounted + missing.length).toBe(count);
        expect(onlyBooked.every((id) => recorded.includes(id) && !listedIds.includes(id))).toBe(true);
      }),
    );
  });

  test('names what nobody knows', () => {
    const accounts = new Map<string, Account>([
      ['a', 'delivered'],
      ['b', 'unknown'],
    ]);
    const { missing } = balance({ listed: ['a', 'b', 'c'].map(item), accounts, recorded: [] });
    expect(missing.map(({ alertId }) => alertId)).toEqual(['b', 'c']);
  });

  test('is one when nothing is missing or lost, and says what was put right', () => {
    const lost = { alertId: 'a', itemId: 'i', destination: 'slack-1' };
    expect(isBalanced(auditOf({ onlyBooked: ['x'], disagreement: { critical: 1, listed: 2 } }))).toBe(true);
    expect(isBalanced(auditOf({ missing: [item('a')] }))).toBe(false);
    expect(isBalanced(auditOf({ lost: [{ ...lost, healed: true }] }))).toBe(false);
    const both = { missing: [item('a'), item('b')], lost: [{ ...lost, healed: true }] };
    expect(isMissingHealed(auditOf({ ...both, healed: 3 }))).toBe(true);
    expect(isMissingHealed(auditOf({ ...both, healed: 1 }))).toBe(false);
    expect(sumOf([auditOf({ ...both, healed: 3 }), auditOf({ listed: 5 })])).toMatchObject({
      listed: 5,
      missing: 2,
      lost: 1,
      healed: 3,
    });
  });
});

describe('the second opinion', () => {
  const dates = [
    [10, 100, 5],
    [20, 20, 15],
    [30, 200, 25],
  ] as const;

  test.each([
    ['agrees by the first date', 3, 0, 40, undefined],
    ['agrees by another date', 1, 0, 50, undefined],
    ['excludes both ends', 1, 10, 30, undefined],
    ['disagrees', 2, 0, 40, { critical: 2, listed: 3 }],
    ['is none where the service gives none', undefined, 0, 40, undefined],
  ])('%s', (_name, critical, from, to, disagreement) => {
    expect(disagreementOf(critical, dates, from, to)).toEqual(disagreement);
  });

  test('of an empty list', () => {
    expect(disagreementOf(0, [], 0, 40)).toBeUndefined();
    expect(disagreementOf(4, [], 0, 40)).toEqual({ critical: 4, listed: 0 });
  });
});
