import { describe, expect, test } from 'vitest';
import {
  type ComparisonInput,
  compare,
  type Remembered,
  VANISHED_AFTER,
} from '../../../src/features/tripwire/changes.ts';
import { type WatchedSettings, watchedOf } from '../../../src/features/tripwire/watched.ts';
import type { ListedSettings } from '../../../src/service/listing.ts';

const email = (...contacts: string[]) => ({ name: 'email', contacts });
const listedAs = (changes: Partial<ListedSettings> = {}): ListedSettings => ({
  name: 'Vault',
  channels: [email('a@example.com', 'b@example.com')],
  triggers: { critical: { detectionsGroup: [['mixer', 'flashLoan'], ['reentrancy']], actions: ['notification'] } },
  tracking: true,
  detectors: [
    { name: 'mixer', external: true },
    { name: 'drasticBalanceChange', config: { threshold: 0.2, window: 5 }, external: false },
  ],
  ...changes,
});
const settings = (changes: Partial<ListedSettings> = {}): WatchedSettings => watchedOf([listedAs(changes)]);
const known = (of: WatchedSettings, missed?: number): Remembered =>
  missed === undefined ? { settings: of } : { settings: of, missed };

const NOW = 1_800_000_000_000;

const comparison = (
  remembered: Record<string, Remembered>,
  listed: Record<string, WatchedSettings>,
  { unreadable = [] as string[], isWhole = true } = {},
) =>
  compare({
    remembered: new Map(Object.entries(remembered)),
    listed: new Map(Object.entries(listed)),
    unreadable: new Set(unreadable),
    isWhole,
    now: NOW,
  } satisfies ComparisonInput);

const QUIET = { changes: [], writes: new Map(), isSettled: true };

describe('the same in another form', () => {
  test.each<[string, Partial<ListedSettings>]>([
    ['contacts in another order', { channels: [email('b@example.com', 'a@example.com')] }],
    [
      'contacts in two entries, one twice',
      { channels: [email('b@example.com'), email('a@example.com', 'b@example.com')] },
    ],
    [
      'groups and detectors of a trigger in another order',
      {
        triggers: {
          critical: { detectionsGroup: [['reentrancy'], ['flashLoan', 'mixer']], actions: ['notification'] },
        },
      },
    ],
    [
      'detectors and keys of a config in another order',
      {
        detectors: [
          { name: 'drasticBalanceChange', config: { window: 5, threshold: 0.2 }, external: false },
          { name: 'mixer', external: true },
        ],
      },
    ],
  ])('%s', (_what, changes) => {
    expect(comparison({ Vault: known(settings()) }, { Vault: settings(changes) })).toEqual(QUIET);
  });

  test('what a listing says for the first time is learned, and assets that it leaves out stay', () => {
    const { tracking: _t, detectors: _d, ...part } = listedAs();
    const assets = { admins: ['0x1 of 0xa'], contracts: ['0xa'] };
    expect(comparison({ Vault: known({ ...settings(), ...assets }) }, { Vault: settings() })).toEqual(QUIET);
    const learned = comparison({ Vault: known(watchedOf([part])) }, { Vault: settings() });
    expect(learned).toEqual({ changes: [], writes: new Map([['Vault', known(settings())]]), isSettled: true });
  });
});

describe('a change', () => {
  test.each<[string, (listed: ListedSettings) => ListedSettings]>([
    ['tracking', ({ tracking: _, ...rest }) => rest],
    ['detectors', ({ detectors: _, ...rest }) => rest],
    ['detectors', (listed) => ({ ...listed, detectors: [] })],
  ])('of %s, which the listing leaves out', (aspect, without) => {
    const after = watchedOf([without(listedAs())]);
    const { changes, writes } = comparison({ Vault: known(settings()) }, { Vault: after });
    expect(changes).toMatchObject([{ kind: 'changed', protocol: 'Vault', aspects: [aspect] }]);
    const [[, next] = expect.unreachable()] = [...writes];
    expect(comparison({ Vault: next ?? expect.unreachable() }, { Vault: after })).toEqual(QUIET);
  });

  test.each<[string, Partial<ListedSettings>]>([
    ['channels', { channels: [email('a@example.com', 'evil@example.com')] }],
    ['channels', { channels: [] }],
    ['triggers', { triggers: {} }],
    ['tracking', { tracking: false }],
    ['detectors', { detectors: [{ name: 'mixer', external: true }] }],
    [
      'detectors',
      { detectors: [{ name: 'mixer' }, { name: 'drasticBalanceChange', config: { threshold: 9, window: 5 } }] },
    ],
  ])('of %s', (aspect, changes) => {
    const [before, after] = [settings(), settings(changes)];
    expect(comparison({ Vault: known(before) }, { Vault: after })).toEqual({
      changes: [{ kind: 'changed', protocol: 'Vault', before, after, aspects: [aspect] }],
      writes: new Map([['Vault', known(after)]]),
      isSettled: true,
    });
  });

  test('of several aspects is one; and a config too long to keep is seen to change', () => {
    const long = (end: string) =>
      settings({ detectors: [{ name: 'mixer', config: 'x'.repeat(5000) + end }], tracking: end === 'a' });
    const [change] = comparison({ Vault: known(long('a')) }, { Vault: long('b') }).changes;
    expect(change).toMatchObject({ aspects: ['tracking', 'detectors'] });
    expect(JSON.stringify(change).length).toBeLessThan(3000);
  });

  test('a second protocol of the same name adds to the first', () => {
    const both = watchedOf([listedAs(), listedAs({ channels: [{ name: 'webhook', url: 'https://x.example.com/1' }] })]);
    expect(comparison({ Vault: known(settings()) }, { Vault: both }).changes).toMatchObject([
      { aspects: ['channels'] },
    ]);
  });
});

describe('a protocol that comes or goes', () => {
  test('is new', () => {
    const after = settings();
    const { changes, writes } = comparison({}, { Vault: after });
    expect(changes).toEqual([{ kind: 'new', protocol: 'Vault', after, since: NOW }]);
    expect(writes).toEqual(new Map([['Vault', { ...known(after), since: NOW }]]));
  });

  test('keeps since when it is known', () => {
    const since = NOW - 5;
    const { changes, writes } = comparison(
      { Vault: { settings: settings(), since } },
      { Vault: settings({ tracking: false }) },
    );
    expect(changes).toMatchObject([{ kind: 'changed', since }]);
    expect(writes.get('Vault')).toMatchObject({ since });
  });

  test('has vanished when several listings in a row lack it, and not before', () => {
    const before = settings();
    const lacking = (missed?: number) => comparison({ Vault: known(before, missed) }, {});
    expect(lacking()).toEqual({ changes: [], writes: new Map([['Vault', known(before, 1)]]), isSettled: false });
    expect(lacking(VANISHED_AFTER - 2)).toMatchObject({ changes: [], isSettled: false });
    expect(lacking(VANISHED_AFTER - 1)).toEqual({
      changes: [{ kind: 'vanished', protocol: 'Vault', before }],
      writes: new Map([['Vault', { settings: before, goneAt: NOW }]]),
      isSettled: true,
    });
    const gone = { settings: before, goneAt: NOW - 1 };
    expect(comparison({ Vault: gone }, {})).toEqual(QUIET);
    const after = settings({ channels: [email('evil@example.com')] });
    expect(comparison({ Vault: gone }, { Vault: after })).toEqual({
      changes: [{ kind: 'new', protocol: 'Vault', before, after }],
      writes: new Map([['Vault', known(after)]]),
      isSettled: true,
    });
  });

  test('is not missing in a part of a listing, in which others are compared', () => {
    const after = settings({ tracking: false });
    const remembered = { Vault: known(settings(), 2), Bridge: known(settings()) };
    const { changes, writes } = comparison(remembered, { Bridge: after }, { isWhole: false });
    expect(changes.map(({ kind, protocol }) => [kind, protocol])).toEqual([['changed', 'Bridge']]);
    expect([...writes.keys()]).toEqual(['Bridge']);
  });

  test('is remembered when it is gone, of many those that went last', () => {
    const all = Array.from({ length: 1002 }, (_, n) => [`p${n}`, { settings: settings(), goneAt: n }] as const);
    const { writes, changes } = comparison(Object.fromEntries(all), {});
    expect([changes, writes]).toEqual([
      [],
      new Map([
        ['p1', undefined],
        ['p0', undefined],
      ]),
    ]);
  });

  test('is forgiven when it is listed again', () => {
    const { changes, writes, isSettled } = comparison({ Vault: known(settings(), 2) }, { Vault: settings() });
    expect({ changes, isSettled }).toEqual({ changes: [], isSettled: true });
    expect(writes).toEqual(new Map([['Vault', known(settings())]]));
  });

  test('is missing, too, where its entry cannot be read: it is polled no more', () => {
    const changeWith = (name: string) =>
      comparison({ Vault: known(settings(), 2) }, {}, { unreadable: [name] }).changes;
    expect(changeWith('Vault')).toMatchObject([{ kind: 'vanished', isUnreadable: true }]);
    for (const name of ['Bridge', ''])
      expect(changeWith(name)).toEqual([expect.not.objectContaining({ isUnreadable: true })]);
  });
});
