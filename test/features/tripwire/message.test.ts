import { expect, test } from 'vitest';
import type { Change } from '../../../src/features/tripwire/changes.ts';
import { type ChangeWords, changesText, differencesOf } from '../../../src/features/tripwire/message.ts';
import type { WatchedSettings } from '../../../src/features/tripwire/watched.ts';

const SECRET = 'https://hooks.example.com/services/T0/SECRET';
const before: WatchedSettings = {
  channels: [
    { name: 'email', contacts: ['a@example.com'] },
    { name: 'webhook', url: SECRET },
  ],
  triggers: { critical: { detectionsGroup: [['mixer', 'flashLoan'], ['reentrancy']], actions: ['notification'] } },
  tracking: true,
  detectors: [
    { name: 'mixer', external: true },
    { name: 'drasticBalanceChange', config: '{"threshold":0.2}' },
  ],
};
const after: WatchedSettings = {
  channels: [{ name: 'webhook', url: `${SECRET}2` }],
  triggers: {},
  tracking: false,
  detectors: [{ name: 'drasticBalanceChange', config: '{"threshold":9}' }],
};

const told = (change: Change, isCritical = false): ChangeWords => ({
  ...change,
  isCritical,
  differences: differencesOf(change),
});
const changed = (protocol = 'Vault'): Change => ({
  kind: 'changed',
  protocol,
  before,
  after,
  aspects: ['channels', 'triggers', 'tracking', 'detectors'],
});

test('old and new side by side, and no secret', () => {
  const text = changesText('main', [told(changed())]);
  expect(text.split('\n')).toEqual([
    'The protocol “Vault” has other channels, triggers, tracking and detectors at the monitoring service “main”.',
    expect.stringMatching(/^channels before: mailbox a@example\.com; webhook hooks\.example\.com \([0-9a-f]{4}\)$/),
    expect.stringMatching(/^channels now: webhook hooks\.example\.com \([0-9a-f]{4}\)$/),
    'triggers before: “critical: mixer and flashLoan, or reentrancy; then notification”',
    'triggers now: none',
    'tracking before: on',
    'tracking now: off',
    'detectors before: mixer (external); drasticBalanceChange {"threshold":0.2}',
    'detectors now: drasticBalanceChange {"threshold":9}',
    expect.stringMatching(/^To do: ask your team who did this.* run: tocsin protocols history "Vault"$/),
  ]);
  expect(text).not.toContain('SECRET');
});

test('the last channel of a person is critical, and comes first of several', () => {
  const one = changesText('main', [told(changed(), true)]);
  expect(one).toMatch(
    /^Critical: No person gets alerts of “Vault” any more: its channels at the monitoring service “main” were changed\./,
  );
  expect(one).toContain('\nIts alerts reach people only by the fallback now');
  const two = changesText('main', [told(changed('Bridge')), told(changed('Vault'), true)]);
  expect(two).toMatch(
    /^Critical: 2 protocols were changed at the monitoring service “main”: “Vault”, “Bridge”\.\nProtocol “Vault” has no/,
  );
});

test('new and vanished protocols have one side', () => {
  const fresh = changesText('main', [told({ kind: 'new', protocol: 'Vault', after: before })]);
  expect(fresh).toMatch(/^The protocol “Vault” is new at the monitoring service “main”\.\nchannels now: mailbox a@/);
  expect(fresh).not.toContain(' before:');
  const gone = changesText('main', [told({ kind: 'vanished', protocol: 'Vault', before })]);
  expect(gone).toMatch(/^The protocol “Vault” is not listed any more.*\nchannels before: mailbox a@/);
  expect(gone).not.toContain(' now:');
});

test('many protocols are one short message, and a name cannot fake a line', () => {
  const many = Array.from({ length: 400 }, (_, n) => told(changed(`p\n${n}`)));
  const text = changesText('main', many);
  expect(text).toMatch(/^400 protocols were changed .*: “p 0”, “p 1”, “p 2”, “p 3”, “p 4” and 395 more\.\n/);
  expect(text).toContain('395 other protocols changed, too');
  expect(text.length).toBeLessThan(5000);
});

test('what was there first stands before what was made later, where both lose a reader', () => {
  const decoys = Array.from({ length: 60 }, (_, n) => ({ ...told(changed(`decoy ${n}`), true), since: 1000 + n }));
  const text = changesText('main', [...decoys, { ...told(changed('Vault')), losesReader: true }]);
  expect(text).toMatch(/^Critical: 61 protocols were changed .*: “Vault”, “decoy 0”/);
  const gone = told({ kind: 'vanished', protocol: 'Bridge', before });
  expect(changesText('main', [...decoys, gone])).toMatch(
    /^Critical: 61 protocols were changed .*: “Bridge”, “decoy 0”/,
  );
});

test.each(['triggers', 'tracking'] as const)('changed %s stand before decoys that lose a reader', (aspect) => {
  const decoy = { kind: 'changed' as const, before, after: { ...before, channels: [] } };
  const decoys = Array.from({ length: 300 }, (_, n) => ({
    ...told({ ...decoy, protocol: `decoy ${n}`, aspects: ['channels'] }, true),
    since: 1000 + n,
  }));
  const victim = told({ kind: 'changed', protocol: 'Vault', before, after, aspects: [aspect] });
  expect(changesText('main', [...decoys, victim])).toMatch(/^Critical: 301 protocols were changed .*: “Vault”/);
});

test('of thousands of contacts those that differ are shown', () => {
  const contacts = Array.from({ length: 3000 }, (_, n) => `a${n}@example.com`);
  const [difference] = differencesOf({
    kind: 'changed',
    protocol: 'Vault',
    before: { channels: [{ name: 'email', contacts }], triggers: {} },
    after: { channels: [{ name: 'email', contacts: [...contacts.slice(1), 'evil@example.com'] }], triggers: {} },
    aspects: ['channels'],
  });
  expect(difference?.old[0]).toBe('email a0@example.com');
  expect(difference?.now[0]).toBe('email evil@example.com');
  expect(difference?.now.at(-1)).toBe('and 2980 more');
});
