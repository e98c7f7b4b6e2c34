import { describe, expect, test } from 'vitest';
import type { AlertContext, JsonObject } from '../../src/alert.ts';
import { WELL_KNOWN_CHAINS } from '../../src/channels/chains.ts';
import { describe as describeAlert } from '../../src/channels/content.ts';
import { inspectionAlert, TX_ORIGIN } from '../support/alerts.ts';

const factsOf = (context: AlertContext | undefined, item: JsonObject = {}) =>
  describeAlert(inspectionAlert({ item, ...(context && { context }) }), WELL_KNOWN_CHAINS, '2026-11-20T10:07:55.000Z')
    .facts;

const textOf = (label: string, context: AlertContext | undefined, item: JsonObject = {}): string | undefined =>
  factsOf(context, item).find((fact) => fact.label === label)?.value;

const since = '2026-10-17T10:00:00.000Z';

test('who, how and how new come right after the transaction', () => {
  const context = {
    trigger: { groups: 2, matched: { number: 1, detectors: ['flashLoan', 'drasticBalanceChange'] } },
    adminOf: ['Vault'],
    privilegedOn: ['Vault'],
    first: { since, origin: true, detectors: false },
  };
  const facts = factsOf(context).map(({ label, value }) => `${label}: ${value}`);
  expect(facts.slice(2, 7)).toEqual([
    `Origin: ${TX_ORIGIN} (an admin of Vault)`,
    'Method: liquidateCall (privileged)',
    'First time: origin yes, these detectors no (remembered since 2026-10-17 10:00:00 UTC)',
    'Trigger: group 1 of 2: flashLoan, drasticBalanceChange',
    'Not fired: mixer',
  ]);
});

test('where nobody looked nothing is said of it', () => {
  expect(textOf('Origin', undefined)).toBe(TX_ORIGIN);
  expect(textOf('Method', undefined)).toBe('liquidateCall');
  expect(factsOf(undefined).map(({ label }) => label)).not.toContain('Trigger');
});

test('what is not known is called so', () => {
  expect(textOf('Origin', {})).toBe(`${TX_ORIGIN} (unknown whether an admin)`);
  expect(textOf('Method', {})).toBe('liquidateCall (unknown whether privileged)');
  expect(textOf('Trigger', {})).toBe('unknown');
  expect(textOf('First time', {})).toBe('unknown');
  expect(textOf('First time', { first: { since } })).toBe('unknown');
  expect(textOf('Origin', { adminOf: [] }, { txOrigin: null })).toBe('unknown');
  expect(textOf('Method', { privilegedOn: [] }, { invokedMethodName: '' })).toBe('unknown');
});

describe('in words', () => {
  test.each<[string, AlertContext, string]>([
    ['Origin', { adminOf: [] }, `${TX_ORIGIN} (not an admin)`],
    ['Origin', { adminOf: ['Vault', 'Pool', 'Oracle'] }, `${TX_ORIGIN} (an admin of Vault and 2 more)`],
    ['Origin', { adminOf: ['<b>*x*|_y_'] }, `${TX_ORIGIN} (an admin of an asset)`],
    ['Method', { privilegedOn: [] }, 'liquidateCall (not privileged)'],
    ['Trigger', { trigger: { groups: 0 } }, 'no trigger group listed'],
    ['Trigger', { trigger: { groups: 1 } }, 'none of 1 group fired as a whole'],
    ['Trigger', { trigger: { groups: 3 } }, 'none of 3 groups fired as a whole'],
    ['First time', { first: { since, origin: false, detectors: false } }, 'origin no, these detectors no'],
    [
      'First time',
      { first: { since, detectors: true } },
      'origin unknown, these detectors yes (remembered since 2026-10-17 10:00:00 UTC)',
    ],
  ])('%s of %j', (label, context, words) => {
    expect(textOf(label, context)).toBe(words);
  });

  test('the origin stays a link', () => {
    const origin = factsOf({ adminOf: ['Vault'] }).find(({ label }) => label === 'Origin');
    expect(origin?.url).toBe(`https://basescan.org/address/${TX_ORIGIN}`);
  });
});

test('detectors that did not fire are one short line, whatever they are', () => {
  const silent = { status: 'notDetected', message: '' };
  const notFired = (detections: JsonObject[string]) => textOf('Not fired', undefined, { detections });
  expect(notFired({ a: silent, 'b\nc': silent, d: { status: 'odd' } })).toBe('a, b c');
  expect(notFired({ a: { status: 'detected' } })).toBe('none');
  expect(notFired({})).toBe('unknown');
  expect(notFired(null)).toBe('unknown');
  const many = notFired(Object.fromEntries(Array.from({ length: 500 }, (_, n) => [`${n}${'x'.repeat(900)}`, silent])));
  expect(many).toMatch(/, and 480 more$/);
  expect(many?.length).toBeLessThan(1500);
});

test('the times are three facts, each with its distance', () => {
  const times = (item: JsonObject) =>
    factsOf(undefined, item).flatMap(({ label, value }) => (/time$|Inspected|Sent/.test(label) ? [value] : []));
  expect(times({ txTimestamp: '2026-11-20T09:07:00Z', createdAt: '2026-11-20T10:07:31Z' })).toEqual([
    '2026-11-20 09:07:00 UTC',
    '2026-11-20 10:07:31 UTC (1 h after the transaction, 24 s before sending)',
    '2026-11-20 10:07:55 UTC (1 h after the transaction)',
  ]);
  expect(times({ txTimestamp: null, createdAt: 'soon' })).toEqual(['unknown', 'soon', '2026-11-20 10:07:55 UTC']);
});
