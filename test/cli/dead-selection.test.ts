import { describe, expect, test } from 'vitest';
import type { Alert, Destination } from '../../src/alert.ts';
import { checkSelection, createSelector, type DeadSelection } from '../../src/cli/dead.ts';
import { UsageError } from '../../src/errors.ts';
import { type DeadDelivery, deadId } from '../../src/ledger/dead-letters.ts';
import { destinationOf } from '../support/alerts.ts';
import { hashOf, makeAlert } from '../support/numbered.ts';

const SLACK = destinationOf('slack', 'C1');
const EMAIL = destinationOf('email', 'a@example.com');

const letter = (alert: Alert, destination: Destination | undefined, reason = 'destination-dead'): DeadDelivery => ({
  id: deadId(alert, destination),
  alert,
  ...(destination === undefined ? {} : { destination }),
  reason,
  message: '',
  attempts: 1,
  at: `2026-11-20T12:00:0${9 - Number(alert.itemId.slice(-1))}.000Z`,
});

const [one, two] = [makeAlert(1), makeAlert(2, { protocol: 'Bridge' })];
const LETTERS = [
  letter(one, SLACK),
  letter(one, EMAIL),
  letter(two, SLACK, 'unknown'),
  letter(two, undefined, 'no-destination'),
];
const [oneSlack, oneEmail, twoSlack, twoNowhere] = LETTERS.map(({ id }) => id) as [string, string, string, string];

const select = (selection: Partial<DeadSelection>, letters = LETTERS) => {
  const selector = createSelector({ ids: [], ...selection });
  // One by one, as a long list comes in parts.
  for (const each of letters) selector.take([each]);
  return selector.result();
};

describe('a selection of dead deliveries', () => {
  test.each([
    ['all', { all: true }, [twoSlack, twoNowhere, oneSlack, oneEmail]],
    ['a protocol', { protocol: 'Bridge' }, [twoSlack, twoNowhere]],
    ['a kind', { destination: 'slack' }, [twoSlack, oneSlack]],
    ["a destination's id", { destination: EMAIL.id }, [oneEmail]],
    ["a destination's label", { destination: 'C1' }, [twoSlack, oneSlack]],
    ['a reason', { reason: 'no-destination' }, [twoNowhere]],
    ['filters that must all fit', { protocol: 'Bridge', destination: 'slack' }, [twoSlack]],
    ['filters that fit none', { protocol: 'Bridge', reason: 'unavailable' }, []],
  ])('by %s, oldest first', (_, selection, expected) => {
    expect(select(selection)).toEqual({ ids: expected, unknown: [] });
  });

  test.each([
    ['a delivery', oneEmail, [oneEmail]],
    ['the beginning of one', oneEmail.slice(0, 12), [oneEmail]],
    ['an item', 'item-1', [oneSlack, oneEmail]],
    ['an alert', two.id, [twoSlack, twoNowhere]],
    ['a transaction in any spelling', hashOf(1).toUpperCase().replace('0X', '0x'), [oneSlack, oneEmail]],
  ])('by name: %s', (_, name, expected) => {
    expect(select({ ids: [name] })).toEqual({ ids: expected, unknown: [] });
  });

  test('names each once, and lists the names that match nothing', () => {
    expect(select({ ids: [oneSlack, 'item-1', 'item-9', 'msg_'] })).toEqual({
      ids: [oneSlack, oneEmail],
      unknown: ['item-9', 'msg_'],
    });
  });

  test('refuses a beginning that several share', () => {
    const twin = { ...(LETTERS[0] as DeadDelivery), id: `${oneSlack.slice(0, -1)}x` };
    expect(() => select({ ids: [oneSlack.slice(0, 20)] }, [...LETTERS, twin])).toThrow('beginning of 2 deliveries');
  });

  test.each([
    ['nothing at all', { ids: [] }],
    ['names and --all', { ids: ['a'], all: true }],
    ['names and a filter', { ids: ['a'], reason: 'unavailable' }],
  ])('has to be said: %s is a mistake', (_, selection) => {
    expect(() => checkSelection(selection)).toThrow(UsageError);
  });

  test('is said by names, by --all, or by a filter', () => {
    for (const selection of [{ ids: ['a'] }, { ids: [], all: true }, { ids: [], protocol: 'Vault' }])
      checkSelection(selection);
  });
});
