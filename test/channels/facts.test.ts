import { describe, expect, test } from 'vitest';
import type { JsonObject } from '../../src/alert.ts';
import { WELL_KNOWN_CHAINS } from '../../src/channels/chains.ts';
import { chainOf, type Fact, inspectionFacts, notificationFacts } from '../../src/channels/facts.ts';
import { inspectionAlert, notificationAlert, TX_HASH, TX_ORIGIN } from '../support/alerts.ts';

const SENT = '2026-11-20T10:07:55.000Z';
const factsOf = (item: JsonObject = {}): Fact[] => inspectionFacts(inspectionAlert({ item }), WELL_KNOWN_CHAINS, SENT);
const factOf = (label: string, item: JsonObject): Fact | undefined =>
  factsOf(item).find((fact) => fact.label === label);

test('the facts of an inspection, the transaction first and its own id last', () => {
  expect(factsOf().map(({ label, value }) => `${label}: ${value}`)).toEqual([
    `Transaction: ${TX_HASH}`,
    'Chain: Base (8453)',
    `Origin: ${TX_ORIGIN}`,
    'Method: liquidateCall',
    'Not fired: mixer',
    `Assets: Lending vault (0x${'ab'.repeat(20)})`,
    'Transaction time: 2026-11-20 10:07:12 UTC',
    'Inspected: 2026-11-20 10:07:31 UTC (19 s after the transaction, 23 s before sending)',
    'Sent: 2026-11-20 10:07:55 UTC (43 s after the transaction)',
    'Inspection: 673d2f0a1b2c3d4e5f607182',
  ]);
});

describe('links', () => {
  test('lead to the explorer of the chain', () => {
    expect(factOf('Transaction', {})?.url).toBe(`https://basescan.org/tx/${TX_HASH}`);
    expect(factOf('Origin', {})?.url).toBe(`https://basescan.org/address/${TX_ORIGIN}`);
  });

  test.each<[string, JsonObject]>([
    ['Transaction', { txHash: 'javascript:alert(1)' }],
    ['Transaction', { chainId: 4_815_162_342 }],
    ['Origin', { txOrigin: '0xabc' }],
    ['Origin', { txOrigin: null }],
  ])('%s has none for %j', (label, item) => expect(factOf(label, item)).not.toHaveProperty('url'));
});

test('a chain is known by its id, as number or as text; an inherited name is none', () => {
  const nameOf = (chainId: JsonObject[string]) => chainOf({ chainId }, WELL_KNOWN_CHAINS)?.name;
  expect([1, '8453', 4_815_162_342, 'toString', null].map(nameOf)).toEqual([
    'Ethereum',
    'Base',
    undefined,
    undefined,
    undefined,
  ]);
  expect(factOf('Chain', { chainId: 4_815_162_342 })?.value).toBe('4815162342');
});

test('several assets are a list, one is a value, none is unknown', () => {
  const [vault, pool] = [{ descriptor: 'Vault', address: '0xaa' }, { address: '0xbb' }];
  expect(factOf('Assets', { assets: [vault, pool] })).toEqual({
    label: 'Assets',
    value: 'Vault (0xaa), 0xbb',
    items: ['Vault (0xaa)', '0xbb'],
  });
  expect(factOf('Assets', { assets: [vault] })).toEqual({ label: 'Assets', value: 'Vault (0xaa)' });
  for (const assets of [[], null, 'Vault']) expect(factOf('Assets', { assets })?.value).toBe('unknown');
});

test('a stored notification has its transaction only where it names one', () => {
  const labels = (changes: object) =>
    notificationFacts(notificationAlert('x', changes), SENT).map(({ label }) => label);
  expect(labels({})).toEqual(['Stored', 'Sent', 'Notification']);
  expect(labels({ txHash: TX_HASH })).toEqual(['Transaction', 'Stored', 'Sent', 'Notification']);
});
