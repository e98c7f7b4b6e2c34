import { describe, expect, test } from 'vitest';
import { inlineName, readableName, shortHex } from '../../../src/channels/content/foreign.ts';

describe('names of detectors', () => {
  test.each([
    ['flashLoan', 'Flash loan'],
    ['drasticBalanceChange', 'Drastic balance change'],
    ['flash_loan-attack', 'Flash loan attack'],
    ['tokenERC20Transfer', 'Token ERC20 transfer'],
    ['reentrancy', 'Reentrancy'],
    ['Flash Loan v2', 'Flash Loan v2'],
    ['<b>&', '<b>&'],
    ['', ''],
  ])('%j is read as %j', (id, name) => {
    expect(readableName(id)).toBe(name);
  });
});

test('a name within a line of ours cannot look like our own parts', () => {
  expect(inlineName('Pool A · an admin\nof all')).toBe('Pool A - an admin of all');
  expect(inlineName('x'.repeat(500))).toHaveLength(60);
});

test.each([
  ['Pool A ・ an admin', 'Pool A - an admin'],
  ['Pool ● A ･ B \u0387 C ⦁ D ◦ E', 'Pool - A - B - C - D - E'],
  ['🔴 CRITICAL', 'CRITICAL'],
  ['🟢 OK ✅ · 🧪❗🔵🟠🟡🟥⚠️🚨 Pool', 'OK - Pool'],
  ['🟢', 'unnamed'],
  ['Curve 🦄 3pool', 'Curve 🦄 3pool'],
  ['', ''],
])('the name %j reads %j', (name, shown) => expect(inlineName(name)).toBe(shown));

test('only hashes and addresses are shortened in the middle', () => {
  expect(shortHex(`0x${'a'.repeat(60)}5ccb`)).toBe('0xaaaa…5ccb');
  expect(shortHex(`0x${'A'.repeat(40)}`)).toBe('0xAAAA…AAAA');
  expect(shortHex('0xabc')).toBe('0xabc');
});
