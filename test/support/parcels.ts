/** Many alerts at once, for tests of what becomes of them: believable storms, and any mixture there is. */
import fc from 'fast-check';
import type { Alert } from '../../src/alert.ts';
import { announcementAlert } from '../../src/features/announcements/announce.ts';
import { inspectionAlert, notificationAlert } from './alerts.ts';

export const hashOf = (n: number): string => `0x${(n + 0xabc).toString(16).padStart(64, '5')}`;

const T0 = Date.parse('2026-11-20T10:07:12.000Z');

/** The `n`th of a storm: another transaction, a second later, in one of three protocols and seven contracts. */
export const stormAlert = (n: number, changes: Partial<Alert> = {}): Alert =>
  inspectionAlert({
    ...changes,
    item: {
      _id: `storm${n}`,
      protocol: `Vault ${'ABC'[n % 3]}`,
      txHash: hashOf(n),
      txTimestamp: new Date(T0 + n * 1000).toISOString(),
      assets: [{ address: `0x${(n % 7).toString(16).padStart(40, 'c')}`, descriptor: `Asset ${n % 7}` }],
      ...changes.item,
    },
  });

export const storm = (count: number): Alert[] => Array.from({ length: count }, (_, n) => stormAlert(n));

/** One transaction that three protocols were hit by. */
export const oneIncident = (txHash = hashOf(999)): Alert[] =>
  ['Lending Pool', 'Stable Vault', 'Treasury'].map((protocol, n) =>
    inspectionAlert({
      item: {
        _id: `incident${n}`,
        protocol,
        txHash,
        assets: [
          { address: '0xa', descriptor: 'Shared vault' },
          { address: `0xb${n}`, descriptor: `${protocol} proxy` },
        ],
        createdAt: `2026-11-20T10:07:3${n}.000Z`,
        detections: {
          flashLoan: { status: 'detected', message: 'Borrowed 12,400 ETH' },
          ...(n === 1 ? { mixer: { status: 'detected', message: 'Funded by a mixer' } } : {}),
        },
      },
    }),
  );

/** Up to `maxLength` alerts of every sort, many of the same few transactions. */
export const anyAlerts = (maxLength: number): fc.Arbitrary<Alert[]> => {
  const sort = fc.constantFrom('inspection', 'inspection', 'inspection', 'follow-up', 'stored', 'sample', 'own');
  const drawn = fc.record({
    sort,
    transaction: fc.integer({ min: 0, max: 30 }),
    chainId: fc.constantFrom(1, '1', 8453, null),
    replay: fc.boolean(),
    assessment: fc.constantFrom('critical', 'suspecious', 'ok'),
  });
  return fc.array(drawn, { maxLength, size: 'max' }).map((all) =>
    all.map(({ sort: what, transaction, chainId, replay, assessment }, n) => {
      const item = { _id: `any${n}`, txHash: hashOf(transaction), chainId, assessment };
      switch (what) {
        case 'stored':
          return notificationAlert(`stored ${n}`, { txHash: hashOf(transaction), itemId: `any${n}`, replay });
        case 'own':
          return announcementAlert({ about: 'destination.broken', key: `any${n}`, message: 'It broke.' }, T0);
        case 'sample':
          return inspectionAlert({ item, type: 'test.sample' });
        case 'follow-up':
          return inspectionAlert({ item, replay, followUp: { of: 'first', was: 'critical', is: assessment } });
        default:
          return inspectionAlert({ item, replay });
      }
    }),
  );
};
