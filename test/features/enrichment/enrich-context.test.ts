import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../../src/alert.ts';
import { contextOf, factsOf, type Knowledge } from '../../../src/features/enrichment/enrich.ts';
import { inspectionAlert } from '../../support/alerts.ts';
import { anyJson } from '../../support/texts.ts';

const ADMIN = `0x${'ad'.repeat(20)}`;
const VAULT = { address: '0xaa', chainId: '1', name: 'Vault', admins: [ADMIN], privileged: ['pause', '0x8456cb59'] };
const POOL = { address: '0xbb', chainId: '1', name: 'Pool', admins: ['0x11'], privileged: ['setfee'] };

const of = (item: JsonObject, known: Knowledge = { assets: [VAULT, POOL] }) =>
  contextOf(inspectionAlert({ item: { chainId: 1, assets: [{ address: '0xAA' }], ...item } }), known);

describe('the trigger', () => {
  const fired = (...names: string[]): JsonObject => ({
    detections: {
      ...Object.fromEntries(names.map((name) => [name, { status: 'detected', message: '' }])),
      mixer: { status: 'notDetected', message: '' },
    },
  });
  const trigger = (groups: string[][], item: JsonObject) => of(item, { triggers: { critical: groups } }).trigger;

  test('is the first group all of whose detectors fired', () => {
    const groups = [['mixer'], ['flashLoan', 'mixer'], [], ['flashLoan', 'reentrancy'], ['flashLoan']];
    expect(trigger(groups, fired('reentrancy', 'flashLoan', 'adminCall'))).toEqual({
      groups: 4,
      matched: { number: 3, detectors: ['flashLoan', 'reentrancy'] },
    });
    expect(trigger(groups, fired(' FlashLoan'))?.matched?.number).toBe(4);
    expect(trigger(groups, fired('adminCall'))).toEqual({ groups: 4 });
  });

  test('differs from one that is not listed, and from one that is not known', () => {
    expect(trigger([], fired('flashLoan'))).toEqual({ groups: 0 });
    expect(trigger([[]], fired('flashLoan'))).toEqual({ groups: 0 });
    expect(of(fired('flashLoan'), { triggers: { suspecious: [['flashLoan']] } }).trigger).toEqual({ groups: 0 });
    expect(of(fired('flashLoan'), {}).trigger).toBeUndefined();
    for (const detections of [null, [], 'x'] as JsonValue[]) {
      expect(trigger([['flashLoan']], { detections })).toBeUndefined();
    }
  });
});

describe('the origin', () => {
  test.each<[string, JsonObject, string[] | undefined]>([
    [
      'an admin',
      { txOrigin: ADMIN.toUpperCase(), assets: [{ address: '0xAA', descriptor: 'My vault' }] },
      ['My vault'],
    ],
    ['an admin of one of several', { txOrigin: '0x11', assets: [{ address: '0xaa' }, { address: '0xbb' }] }, ['Pool']],
    [
      'one yes among unknown assets',
      { txOrigin: ADMIN, assets: [{ address: '0xcc' }, { address: '0xaa' }] },
      ['Vault'],
    ],
    ['nobody known', { txOrigin: '0x99' }, []],
    ['no yes, and an asset that is not listed', { txOrigin: '0x99', assets: [{ address: '0xaa' }, 'odd'] }, undefined],
    ['on a chain of its own', { txOrigin: ADMIN, chainId: 10 }, undefined],
    ['on a chain given as text', { txOrigin: ADMIN, chainId: '1' }, ['Vault']],
    ['missing', { txOrigin: null }, undefined],
    ['of nothing', { txOrigin: ADMIN, assets: [] }, undefined],
    ['of assets in another shape', { txOrigin: ADMIN, assets: { address: '0xaa' } }, undefined],
  ])('%s', (_, item, adminOf) => {
    expect(of(item).adminOf).toEqual(adminOf);
  });

  test('is not known where no admins are listed, or one address is on several chains and none is named', () => {
    const { admins: _admins, ...bare } = VAULT;
    expect(of({ txOrigin: ADMIN }, { assets: [bare] }).adminOf).toBeUndefined();
    const twice = { assets: [VAULT, { ...VAULT, chainId: '10', admins: ['0x11'] }] };
    expect(of({ txOrigin: ADMIN }, twice).adminOf).toEqual(['Vault']);
    expect(of({ txOrigin: ADMIN, chainId: 10 }, twice).adminOf).toEqual([]);
    expect(of({ txOrigin: ADMIN, chainId: null }, twice).adminOf).toBeUndefined();
    expect(of({ txOrigin: ADMIN, chainId: null }).adminOf).toEqual(['Vault']);
  });

  test('is not denied by the first of very many assets', () => {
    const assets = Array.from({ length: 60 }, () => ({ address: '0xaa' }));
    expect(of({ txOrigin: '0x99', assets: assets.slice(0, 50) }).adminOf).toEqual([]);
    expect(of({ txOrigin: '0x99', assets }).adminOf).toBeUndefined();
  });
});

test.each<[JsonValue, string[] | undefined]>([
  ['pause', ['Vault']],
  ['Pause(bool)', ['Vault']],
  ['0x8456CB59', ['Vault']],
  ['deposit', []],
  ['0xd0e30db0', undefined],
  ['', undefined],
  ['(', undefined],
  [{ name: 'pause' }, undefined],
])('method %j is privileged on %j', (invokedMethodName, privilegedOn) => {
  expect(of({ invokedMethodName }).privilegedOn).toEqual(privilegedOn);
});

test('facts are the same however they are written', () => {
  const facts = (item: JsonObject) => factsOf(inspectionAlert({ item }));
  const one = { status: 'detected', message: 'x' };
  expect(facts({ txOrigin: '0xAB', detections: { b: one, a: one } })).toEqual(
    facts({ txOrigin: ' 0xab', detections: { A: one, b: { ...one, message: '' }, c: { status: 'notDetected' } } }),
  );
  expect(facts({ txOrigin: null, detections: null })).toEqual({});
});

test('nothing that comes is a reason to fail', () => {
  const fields = ['chainId', 'txOrigin', 'assets', 'invokedMethodName', 'detections'];
  const items = fc.record(Object.fromEntries(fields.map((field) => [field, anyJson()])));
  fc.assert(
    fc.property(items, (item) => {
      const alert = inspectionAlert({ item: item as JsonObject });
      expect(contextOf(alert, {})).toEqual({});
      const { adminOf = [], privilegedOn = [] } = contextOf(alert, { assets: [VAULT], triggers: {} });
      expect([...adminOf, ...privilegedOn].filter((name) => name !== VAULT.name)).toEqual([]);
      for (const fact of Object.values(factsOf(alert))) expect(fact).toBeTypeOf('string');
    }),
  );
});
