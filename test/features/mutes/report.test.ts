import { expect, test } from 'vitest';
import { type MuteReport, muteReportTexts } from '../../../src/features/mutes/report.ts';
import { type HiddenItem, MOST_LISTED, type StoredMute } from '../../../src/features/mutes/store.ts';
import { hashOf } from '../../support/numbered.ts';

const END = Date.parse('2026-11-20T14:00:00Z');

const MUTE: StoredMute = {
  ...{ id: 'mute-1', protocols: ['Lending *'], detectors: [], destinations: [], reason: 'upgrade of the pool' },
  ...{ from: '2026-11-20T12:00:00.000Z', until: '2026-11-20T14:00:00.000Z', hid: 0 },
};

const item = (n: number, changes: Partial<HiddenItem> = {}): HiddenItem => ({
  protocol: 'Lending Pool',
  type: 'inspection.critical',
  detectors: ['flashLoan'],
  itemId: `item-${n}`,
  txHash: hashOf(n),
  at: new Date(END - 1000 + n).toISOString(),
  ...changes,
});

const report = (items: HiddenItem[], changes: Partial<MuteReport> = {}) =>
  muteReportTexts(MUTE, END, { hid: items.length, items, ...changes });

test('lists alerts by protocol and detectors, each by its transaction, or by its id where it names none', () => {
  const { txHash: _txHash, ...unnamed } = item(3, { type: 'notification.created', detectors: [] });
  const [text, ...others] = report([item(2), item(1), unnamed, item(4, { type: 'inspection.downgraded' })]);
  expect(others).toEqual([]);
  expect(text).toBe(
    [
      'A mute has ended that hid 4 alerts: upgrade of the pool',
      'mute-1: protocol Lending *; 2026-11-20 12:00:00 UTC to 2026-11-20 14:00:00 UTC',
      '',
      'Lending Pool: flashLoan',
      hashOf(1),
      hashOf(2),
      'Lending Pool: stored notification',
      'item-3',
      'Lending Pool: follow-up, downgraded',
      hashOf(4),
    ].join('\n'),
  );
});

test('says that it was ended by hand, and instead of whom others get it', () => {
  const [text] = muteReportTexts({ ...MUTE, endedAt: '2026-11-20T13:00:00.000Z' }, Date.parse('2026-11-20T13:00:00Z'), {
    hid: 1,
    items: [item(1)],
    insteadOf: Array.from({ length: 12 }, (_, n) => `webhook ${n}`),
  });
  expect(text).toMatch(/hid one alert: [\s\S]*to 2026-11-20 13:00:00 UTC, ended by hand\n/);
  expect(text).toMatch(/webhook 9 and 2 more\n/);
});

test('more than one message holds comes in parts, and what is not listed is counted with a command', () => {
  const many = Array.from({ length: 450 }, (_, n) => item(n));
  const parts = report(many, { hid: 460 });
  expect(parts.map((text) => text.split('\n')[0])).toEqual(
    [1, 2, 3].map((part) => `A mute has ended that hid 460 alerts, part ${part} of 3: upgrade of the pool`),
  );
  expect(parts.join('\n').match(/0x\w{64}/g)).toHaveLength(450);
  expect(parts.map((text) => /and (\d+) more that are not listed; `(.*)` shows/.exec(text)?.slice(1))).toEqual([
    undefined,
    undefined,
    ['10', 'tocsin replay --since 2026-11-20T12:00:00.000Z --until 2026-11-20T14:00:00.000Z --dry-run'],
  ]);
});

test('no text of the chain or of a person makes a message too long, or a line of its own', () => {
  const hostile = 'x\n'.repeat(30_000);
  const items = Array.from({ length: 50 }, (_, n) =>
    item(n, { protocol: hostile, detectors: [hostile], itemId: hostile }),
  );
  const texts = muteReportTexts({ ...MUTE, reason: hostile, protocols: [hostile] }, END, { hid: 50, items });
  for (const text of texts) {
    expect(text.length).toBeLessThan(30_000);
    expect(text.split('\n').length).toBeLessThan(200);
  }
});

test('never lists more than it keeps', () => {
  const items = Array.from({ length: MOST_LISTED + 5 }, (_, n) => item(n));
  const texts = report(items, { hid: MOST_LISTED + 5 });
  expect(texts.join('\n').match(/0x\w{64}/g)).toHaveLength(MOST_LISTED);
  expect(texts.at(-1)).toContain('and 5 more that are not listed');
});
