/** Alerts as the page shows them: times to the receivers, and links where the chain is known. */
import { expect, test } from 'vitest';
import { WELL_KNOWN_CHAINS } from '../../../src/channels/chains.ts';
import { createLinker, foldCovered, recentAlert } from '../../../src/features/page/alerts.ts';
import type { DeliveryRecord } from '../../../src/ledger/record.ts';
import { makeAlert } from '../../support/numbered.ts';

const AT = '2026-11-20T12:00:00.000Z';
const LATER = '2026-11-20T12:00:02.500Z';
const alert = makeAlert(1, { at: AT });
const counts = { delivered: 1, waiting: 0, muted: 0, dead: 0 };

const linker = (...chains: string[]) => {
  const assets = chains.map((chainId) => ({ address: '0x1', chainId }));
  return createLinker(WELL_KNOWN_CHAINS, new Map([[alert.service, new Map([[alert.protocol, { assets }]])]]));
};

const delivery = (changes: Partial<DeliveryRecord> = {}): DeliveryRecord => ({
  state: 'delivered',
  destination: { id: 'slack-1', kind: 'slack', label: 'C1' },
  at: LATER,
  attempts: [{ at: LATER, outcome: 'delivered', durationMs: 5 }],
  ...changes,
});

const NOBODY = { mayBePressed: () => false };
const outline = (...deliveries: DeliveryRecord[]) => ({ alert, counts, deliveries, isCovered: false });

const shown = (record: DeliveryRecord) => recentAlert(outline(record), linker(), NOBODY).deliveries[0];

test('a delivery shows how long it took since the service wrote the item', () => {
  expect(shown(delivery())).toEqual({ to: 'slack C1', state: 'delivered', at: LATER, tookMs: 2500 });
});

test('a replay, and what another alert tells, took no time', () => {
  const [replayed] = delivery().attempts;
  expect(
    shown(delivery({ attempts: [{ ...(replayed ?? expect.unreachable()), replay: true }] }))?.tookMs,
  ).toBeUndefined();
  expect(shown(delivery({ with: 'other' }))).toMatchObject({ isCovered: true });
  expect(shown(delivery({ with: 'other' }))?.tookMs).toBeUndefined();
});

test('a transaction is linked where all contracts of its protocol are on one chain', () => {
  const link = (...chains: string[]) => recentAlert(outline(), linker(...chains), NOBODY).explorer;
  expect(link('1', '1')).toBe(`https://etherscan.io/tx/${alert.txHash}`);
  expect(link('1', '10')).toBeUndefined();
  expect(link('999')).toBeUndefined();
  expect(link()).toBeUndefined();
});

test('whoever is on it is said as the messages say it: when, where, and how long after the alert', () => {
  const known = { via: 'slack', to: 'C1', destination: 'slack-1', at: '2026-11-20T12:01:02Z' };
  const saidOf = (by: string, name?: string): string | undefined => {
    const destination = { id: 'slack-1', kind: 'slack', label: 'C1', ...(name === undefined ? {} : { name }) };
    return recentAlert(outline(delivery({ destination })), linker(), { ...NOBODY, by: { ...known, by } }).acknowledged;
  };
  expect(saidOf('Ann', '#alerts')).toBe(
    '👀 Ann is on it · acknowledged 12:01:02 UTC on Slack #alerts · 62 s after the alert',
  );
  expect(saidOf('all · is well', 'Ops room')).toBe(
    '👀 “all - is well” is on it · acknowledged 12:01:02 UTC on Slack “Ops room” · 62 s after the alert',
  );
  expect(saidOf('Ann')).toContain(' on Slack channel C1 ·');
});

test('an alert that people can acknowledge says that nobody has yet', () => {
  const saidOf = (isPressable: boolean, type = alert.type): string | undefined => {
    const one = { ...outline(delivery()), alert: { ...alert, type } };
    return recentAlert(one, linker(), { mayBePressed: () => isPressable }).acknowledged;
  };
  expect(saidOf(true)).toBe('Nobody has acknowledged yet');
  expect(saidOf(false)).toBeUndefined();
  expect(saidOf(true, 'tocsin.destination.broken')).toBeUndefined();
});

test('a notification that is covered wherever it goes is a number at the alert that covers it', () => {
  const covered = { ...outline(delivery({ with: 'a' })), isCovered: true };
  const inspection = { ...outline(delivery()), alert: { ...alert, id: 'a' } };
  const folded = foldCovered([covered, inspection, { ...covered, deliveries: [delivery({ with: 'older' })] }]);
  expect(folded.rows).toEqual([inspection]);
  expect(folded.covers.get('a')).toBe(1);
});
