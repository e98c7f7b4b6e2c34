import { describe, expect, test } from 'vitest';
import { statedSeverity, withoutSeverity } from '../../../src/channels/content/severity.ts';

describe('a text states its severity', () => {
  test.each([
    ['Critical: the pool was drained', 'CRITICAL'],
    ['CRITICAL - the pool was drained', 'CRITICAL'],
    ['critical | the pool was drained', 'CRITICAL'],
    ['Critical – the pool was drained', 'CRITICAL'],
    ['CRITICAL!\nThe pool was drained', 'CRITICAL'],
    ['Critical\nThe pool was drained', 'CRITICAL'],
    ['Critical', 'CRITICAL'],
    ['[CRITICAL] the pool was drained', 'CRITICAL'],
    ['(high) the pool was drained', 'HIGH'],
    ['**High**: the pool was drained', 'HIGH'],
    ['🔴 Critical: the pool was drained', 'CRITICAL'],
    ['\n\n  ⚠️ WARNING: the pool was paused', 'WARNING'],
    ['Suspecious: a new contract', 'SUSPICIOUS'],
    ['suspicious: a new contract', 'SUSPICIOUS'],
    ['Info: the guardian was rotated', 'INFO'],
    ['Critical finding in Lending Pool.\nTransaction: 0x12', 'CRITICAL'],
    ['A critical finding was stored.', 'CRITICAL'],
    ['New high-severity alert', 'HIGH'],
    ['Critical transaction in Lending Pool', 'CRITICAL'],
    ['critical event: the owner was changed', 'CRITICAL'],
    ['🔴 Critical activity on Pool A', 'CRITICAL'],
    ['New critical transaction 0x12', 'CRITICAL'],
    ['**Suspecious transactions** on Pool A', 'SUSPICIOUS'],
    ['Low severity: dust', 'LOW'],
    ['The pool was drained\nSeverity: critical', 'CRITICAL'],
    ['The pool was drained\n- *Severity:* Medium', 'MEDIUM'],
    ['Pool A, severity=high, chain 1', 'HIGH'],
    ['{"severity":"warning","text":"paused"}', 'WARNING'],
    ['Assessment: suspecious', 'SUSPICIOUS'],
    ['Risk level: low', 'LOW'],
    ['[Priority: high] the pool was drained', 'HIGH'],
  ])('%j: %s', (message, severity) => expect(statedSeverity(message)).toBe(severity));
});

describe('a text that only has the word in it states none', () => {
  test.each([
    [''],
    ['The pool was paused'],
    ['Not critical: the pool was paused'],
    ['Not a critical finding'],
    ['No critical findings today'],
    ['Criticality of the pool: unknown'],
    ['Criticals: none'],
    ['Critical? Nobody knows.'],
    ['Critical infrastructure was moved'],
    ['High gas usage'],
    ['High activity on Pool A'],
    ['Low transaction count'],
    ['Critical eventuality'],
    ['No critical transaction today'],
    ['High-value transfer of 4 ETH'],
    ['Low-level call failed'],
    ['Low liquidity in Pool A'],
    ['Lower: 4'],
    ['Information: the pool was paused'],
    ['Medium-term rates changed'],
    ['Severity: not critical'],
    ['Severity: unknown, was critical'],
    ['Severity: critical -> low'],
    ['Severity: low or high'],
    ['Severity: low/high'],
    ['Severity: criticality'],
    ['Maximum severity: critical'],
    ['the severity was critical'],
    ['Water level: high'],
    ['A long text. Critical: in its middle'],
    [`${'x'.repeat(3000)}\nSeverity: critical`],
  ])('%j', (message) => expect(statedSeverity(message)).toBeUndefined());
});

test('of several the worst counts: what comes later cannot play down the first', () => {
  expect(statedSeverity('Critical: the pool was drained\nSeverity: info')).toBe('CRITICAL');
  expect(statedSeverity('Info: two findings\nSeverity: low\nSeverity: high')).toBe('HIGH');
});

test('piled brackets and labels state none', () => {
  const message = `${'['.repeat(1000)}${'severity '.repeat(200)}`;
  expect(statedSeverity(message)).toBeUndefined();
});

test.each([
  ['Critical: the pool was drained', 'the pool was drained'],
  ['🔴 Critical transaction in Lending Pool', 'transaction in Lending Pool'],
  ['A critical finding was stored.', 'finding was stored.'],
  ['Critical', 'Critical'],
  ['Critical severity', 'Critical severity'],
  ['The pool was drained\nSeverity: critical', 'The pool was drained\nSeverity: critical'],
])('behind its severity %j is %j', (message, rest) => expect(withoutSeverity(message, 'CRITICAL')).toBe(rest));
