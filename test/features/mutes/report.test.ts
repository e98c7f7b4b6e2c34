import { expect, test } from 'vitest';
import { type MuteReport, muteReportTexts } from '../../../src/features/mutes/report.ts';
import { type HiddenItem, MOST_LISTED, type StoredMute } from '../../../src/features/mutes/store.ts';
import { hashOf } from '../../support/numbered.ts';

const END = Date.parse('2026-11-20T14:00:00Z');

const MUTE: StoredMute = {
  ...{ id: 'mute-1', protocols: ['Lending *'], detectors: [], destinations: [], reason: 'upgrade of the pool' },
  ...{ from: '2026-11-20T12:00:00.000Z', until: '2026-11-20T14:00:00.000Z', hid: 0 },
};

const SEVERITIES: Readonly<Record<string, string>> = {
  'inspection.critical': 'CRITICAL',
  'inspection.suspecious': 'SUSPICIOUS',
  'inspection.downgraded': 'FOLLOW-UP',
};

const item = (n: number, changes: Partial<HiddenItem> = {}): HiddenItem => ({
  protocol: 'Lending Pool',
  type: 'inspection.critical',
  detectors: ['flashLoan'],
  itemId: `item-${n}`,
  txHash: hashOf(n),
  severity: SEVERITIES[changes.type ?? 'inspection.critical'] ?? 'NOTIFICATION',
  at: new Date(END - 1000 + n).toISOString(),
  ...changes,
});

const textsOf = (items: HiddenItem[], changes: Partial<MuteReport> = {}) =>
  muteReportTexts(MUTE, END, { hid: items.length, items, ...changes });

const report = (items: HiddenItem[], changes: Partial<MuteReport> = {}) =>
  textsOf(items, changes).map(({ message }) => message);

const stored = (n: number, changes: Partial<HiddenItem> = {}): HiddenItem => {
  const { txHash: _txHash, ...unnamed } = item(n, { type: 'notification.created', detectors: [], ...changes });
  return unnamed;
};

test('says how many and how bad, then when and why, then one line for each, the worst first', () => {
  const [text, ...others] = report([
    item(2, { said: 'Balance fell by 90 %' }),
    stored(3, { said: 'Tocsin: all is “well”' }),
    item(4, { type: 'inspection.downgraded' }),
    item(5, { type: 'inspection.suspecious', detectors: ['mixer', 'newContract'] }),
    item(1),
    stored(6, { severity: 'HIGH' }),
  ]);
  expect(others).toEqual([]);
  expect(text).toBe(
    [
      'A mute ended: 6 alerts were not sent, 2 of them critical.',
      'It muted protocol “Lending *”, 2026-11-20 12:00:00 to 14:00:00 UTC. Look through what it hid: nobody was told of it here.',
      'Reason: upgrade of the pool',
      '',
      `🔴 CRITICAL 13:59:59 Lending Pool: Flash loan ${hashOf(1)}`,
      `🔴 CRITICAL 13:59:59 Lending Pool: Flash loan “Balance fell by 90 %” ${hashOf(2)}`,
      '🟠 HIGH 13:59:59 Lending Pool: the service wrote item-6',
      `🟠 SUSPICIOUS 13:59:59 Lending Pool: Mixer, New contract ${hashOf(5)}`,
      "🟠 NOTIFICATION 13:59:59 Lending Pool: the service wrote “Tocsin: all is 'well'” item-3",
      `🔵 FOLLOW-UP 13:59:59 Lending Pool: follow-up, downgraded ${hashOf(4)}`,
    ].join('\n'),
  );
});

test('has each item as data, too, for those who link it: time, severity, chain, the whole hash', () => {
  const [part] = textsOf([item(1, { severity: 'CRITICAL', chainId: '8453' }), stored(2)]);
  expect(part?.listed).toEqual([
    {
      ...{ at: item(1).at, severity: 'CRITICAL', protocol: 'Lending Pool', detectors: ['flashLoan'] },
      ...{ txHash: hashOf(1), chainId: '8453' },
    },
    {
      at: item(2).at,
      severity: 'NOTIFICATION',
      protocol: 'Lending Pool',
      what: 'the service wrote',
      itemId: 'item-2',
    },
  ]);
  expect(part?.message.startsWith(`${part.lead}\n\n`)).toBe(true);
});

test.each([
  [1, 'inspection.critical', '1 alert was not sent, a critical one.'],
  [2, 'inspection.critical', '2 alerts were not sent, all of them critical.'],
  [2, 'inspection.suspecious', '2 alerts were not sent.'],
])('of %i %s the first line says: %s', (count, type, words) => {
  const [text] = report(Array.from({ length: count }, (_, n) => item(n, { type })));
  expect(text).toContain(`A mute ended: ${words}\n`);
});

test('a mute of several days has the dates, and an item of another day its own', () => {
  const { message = '' } = muteReportTexts({ ...MUTE, from: '2026-11-19T22:00:00.000Z' }, END, {
    hid: 1,
    items: [item(1, { at: '2026-11-19T23:00:05.000Z' })],
  })[0] ?? { message: '' };
  expect(message).toContain('a critical one.\n');
  expect(message).toContain('\n🔴 CRITICAL 2026-11-19 23:00:05 Lending Pool');
});

test('says that it was ended by hand, who added it, and instead of whom others get it', () => {
  const ended = { ...MUTE, author: 'operations', endedAt: '2026-11-20T13:00:00.000Z' };
  const [text] = muteReportTexts(ended, Date.parse('2026-11-20T13:00:00Z'), {
    hid: 1,
    items: [item(1)],
    insteadOf: Array.from({ length: 12 }, (_, n) => `webhook ${n}`),
  });
  expect(text?.message).toMatch(/ to 13:00:00 UTC, ended by hand\. Added by “operations”\. Look through .*\n/);
  expect(text?.message).toMatch(/webhook 9 and 2 more\.\n/);
});

test('more than one message holds comes in parts, and what is not listed is counted with a command', () => {
  const many = Array.from({ length: 450 }, (_, n) => item(n));
  const parts = report(many, { hid: 460 });
  expect(parts.map((text) => text.split('\n')[0])).toEqual(
    [1, 2, 3].map(
      (part) => `A mute ended (part ${part} of 3): 460 alerts were not sent, at least 450 of them critical.`,
    ),
  );
  expect(parts.join('\n').match(/0x\w{64}/g)).toHaveLength(450);
  expect(parts.map((text) => /^To do: (\d+) more are not listed\. .* run: (.*)$/m.exec(text)?.slice(1))).toEqual([
    undefined,
    undefined,
    ['10', 'tocsin replay --since 2026-11-20T12:00:00.000Z --until 2026-11-20T14:00:00.000Z --dry-run'],
  ]);
});

test('no text of the chain or of a person makes a message too long, or a line of its own', () => {
  const hostile = 'To do: x\n'.repeat(30_000);
  const items = Array.from({ length: 50 }, (_, n) =>
    item(n, { protocol: hostile, detectors: [hostile], itemId: hostile, severity: hostile }),
  );
  const texts = muteReportTexts({ ...MUTE, reason: hostile, author: hostile, protocols: [hostile] }, END, {
    hid: 50,
    items,
  });
  for (const { message, listed } of texts) {
    expect(message.length).toBeLessThan(30_000);
    expect(JSON.stringify(listed).length).toBeLessThan(60_000);
    expect(message.split('\n').length).toBeLessThan(200);
    expect(message).not.toMatch(/^To do/m);
  }
});

test('never lists more than it keeps', () => {
  const items = Array.from({ length: MOST_LISTED + 5 }, (_, n) => item(n));
  const texts = report(items, { hid: MOST_LISTED + 5 });
  expect(texts.join('\n').match(/0x\w{64}/g)).toHaveLength(MOST_LISTED);
  expect(texts.at(-1)).toContain('5 more are not listed');
});
