import { describe, expect, test } from 'vitest';
import { CHANNEL_KINDS, type ChannelKind, isHuman } from '../../src/alert.ts';
import type { RateLimit } from '../../src/channels/options.ts';
import { kindFacts, openChannels } from '../../src/channels/registry.ts';

const HOOK = 'https://hooks.example.com/services/x';

const ADDRESSES = [
  { kind: 'email', address: 'oncall@example.com' },
  { kind: 'telegram', address: '-1001234567890/7' },
  { kind: 'slack', address: 'C024BE91L' },
  { kind: 'slack', address: HOOK },
  { kind: 'webhook', address: HOOK },
] as const;

test('people read every kind but webhooks', () => {
  expect(CHANNEL_KINDS.filter((kind) => isHuman({ kind }))).toEqual(['email', 'telegram', 'slack']);
});

test('only the receiver of a webhook can refuse everything that is to come', () => {
  expect(CHANNEL_KINDS.filter((kind) => kindFacts(kind).canBeDisabled)).toEqual(['webhook']);
});

test('addresses of webhooks share no sender', () => {
  expect(ADDRESSES.map(({ kind, address }) => kindFacts(kind).sharesSender(address))).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

describe('rates', () => {
  const rateOf = ({ kind, address }: { kind: ChannelKind; address: string }, configured: RateLimit): RateLimit =>
    kindFacts(kind).rateOf?.(address, configured) ?? configured;
  const configured = { perSecond: 1, perMinute: 20, burst: 3 };

  test('are as configured, but for Telegram: people have no limit a minute', () => {
    expect(ADDRESSES.map((one) => rateOf(one, configured))).toEqual(ADDRESSES.map(() => configured));
    expect(rateOf({ kind: 'telegram', address: '@alerts' }, configured)).toEqual(configured);
    expect(rateOf({ kind: 'telegram', address: '123456' }, configured)).toEqual({ perSecond: 1, burst: 3 });
    expect(rateOf({ kind: 'telegram', address: '-100123' }, { perSecond: 5 })).toEqual({ perSecond: 5 });
  });

  test('hold for each address alone, but topics share that of their chat, and plus addresses that of their mailbox', () => {
    const { sharesRateWith } = kindFacts('email');
    expect(['Vault+1@example.com', 'a+b+c@example.com', '+@example.com'].map((one) => sharesRateWith?.(one))).toEqual([
      'vault@example.com',
      'a@example.com',
      '+@example.com',
    ]);
    expect(ADDRESSES.map(({ kind, address }) => kindFacts(kind).sharesRateWith?.(address) ?? address)).toEqual([
      'oncall@example.com',
      '-1001234567890',
      'C024BE91L',
      HOOK,
      HOOK,
    ]);
  });
});

test('only kinds that the config sets up are opened', async () => {
  const dependencies = { post: () => Promise.reject(new Error('nobody is asked')), now: () => 0 };
  expect(await openChannels({}, dependencies)).toEqual([]);
});
