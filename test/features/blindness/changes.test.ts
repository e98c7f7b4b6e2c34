import { describe, expect, test } from 'vitest';
import { type ChangesInput, changesOf, type Reading } from '../../../src/features/blindness/changes.ts';
import type { Announced } from '../../../src/features/conditions/store.ts';

const limits = { unreadAfter: 45_000, tellAfter: 60_000, usual: 45_000, seenLate: 18_000 };
const fine: Reading = { wasRead: true, unreadMs: 5000 };
const unread: Reading = { wasRead: true, unreadMs: 61_000 };
const late: Reading = { wasRead: true, unreadMs: 50_000 };
/** By a daemon that has just started. */
const notKnown: Reading = { wasRead: false, unreadMs: 0 };

const told = (members: string[] = []): Announced => ({
  ...{ key: 'k', about: 'service.unread', text: '', said: { text: '', fields: {} } },
  since: '2026-11-20T10:00:00.000Z',
  ...{ members, announcedTo: [], isAnnounced: true },
});
const part = (...protocols: string[]): Announced => told(protocols);

const changes = (readings: Record<string, Reading>, announced: Announced[] = [], backForMs = 0) =>
  changesOf({
    readings: new Map(Object.entries(readings)),
    announced,
    backForMs,
    limits,
  } satisfies ChangesInput);

describe('what begins', () => {
  test('nothing, while all is read or nobody knows yet', () => {
    expect(changes({ a: fine, b: late })).toEqual({ ended: [] });
    expect(changes({ a: notKnown, b: notKnown })).toEqual({ ended: [] });
  });

  test('one protocol of two', () => {
    expect(changes({ a: fine, b: unread }).begun).toEqual({ protocols: ['b'], unreadMs: 61_000 });
  });

  test('the service, where all are unread', () => {
    expect(changes({ a: unread, b: { wasRead: false, unreadMs: 70_000 } }).begun).toEqual({
      protocols: [],
      unreadMs: 70_000,
    });
  });

  test('nothing of the first, where the others follow: the service goes', () => {
    expect(changes({ a: late, b: unread }).begun).toBeUndefined();
  });

  test('nothing of the first, where the last read of the other was only seen late: the service goes', () => {
    expect(changes({ a: { wasRead: true, unreadMs: 43_500 }, b: unread }).begun).toBeUndefined();
    expect(changes({ a: { wasRead: true, unreadMs: 43_000 }, b: unread }).begun).toMatchObject({ protocols: ['b'] });
  });

  test('nothing twice; another protocol is news of its own, and so is the rest', () => {
    expect(changes({ a: fine, b: unread }, [part('b')]).begun).toBeUndefined();
    expect(changes({ a: unread, b: unread }, [told()]).begun).toBeUndefined();
    expect(changes({ a: fine, b: unread, c: unread }, [part('b')]).begun).toMatchObject({ protocols: ['c'] });
    expect(changes({ a: unread, b: unread }, [part('b')]).begun).toMatchObject({});
    expect(changes({ a: unread, b: unread }, [part('a'), part('b')]).begun).toBeUndefined();
  });
});

describe('what ends', () => {
  test('nothing that a daemon has not seen itself', () => {
    expect(changes({ a: notKnown, b: notKnown }, [told()]).ended).toEqual([]);
    expect(changes({ a: fine, b: notKnown }, [part('b')]).ended).toEqual([]);
  });

  test('the service, when all of it is read again', () => {
    const whole = told();
    expect(changes({ a: fine, b: late }, [whole]).ended).toEqual([]);
    expect(changes({ a: fine, b: fine }, [whole]).ended).toEqual([{ announced: whole, members: [] }]);
  });

  test('the service, while a protocol of its own trouble stays unread', () => {
    const whole = told();
    expect(changes({ a: fine, b: unread }, [whole, part('b')]).ended).toEqual([{ announced: whole, members: [] }]);
    expect(changes({ a: fine, b: unread }, [whole], 60_000).ended).toEqual([{ announced: whole, members: [] }]);
  });

  test('protocols one by one, also one that is not listed any more', () => {
    const both = part('a', 'b');
    expect(changes({ a: fine, b: unread }, [both]).ended).toEqual([{ announced: both, members: ['a'] }]);
    expect(changes({ a: unread, c: fine }, [both]).ended).toEqual([{ announced: both, members: ['b'] }]);
  });
});
