import { expect, test } from 'vitest';
import type { Destination } from '../../../src/alert.ts';
import { createDestinations } from '../../../src/features/approval/destinations.ts';
import { createApprovalStore } from '../../../src/features/approval/store.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const NEW = destinationOf('slack', 'C1', 'C1');
const HELD = destinationOf('slack', 'C2', 'C2');
const ALLOWED = destinationOf('slack', 'C3', 'C3');
const ONCALL = destinationOf('email', 'oncall@example.com', 'oncall@example.com');
const GONE = destinationOf('telegram', '7', '7');

const setUp = ({ releases = 3 } = {}) => {
  const { redis, prefix } = openTestRedis();
  const held = createApprovalStore(redis, prefix, () => T0);
  const acts: string[] = [];
  const act = (what: string, count: number) => async (one: Destination) => {
    acts.push(`${what} ${one.label}`);
    return count;
  };
  const destinations = createDestinations({
    held,
    names: async () => new Map(),
    listDisabled: async () => [{ id: NEW.id }],
    approval: { release: act('release', releases), drop: act('drop', 2) },
    fallback: [ONCALL],
    review: {
      destinations: () => [NEW, HELD, ALLOWED],
      protocolsOf: () => new Map([[NEW.id, ['Vault', 'Bridge']]]),
    },
    isTrusted: ({ id }) => id === ONCALL.id,
    isAllowed: ({ id }) => id === ALLOWED.id,
  });
  return { held, acts, ...destinations };
};

test('lists each destination once, with its state and why', async () => {
  const { held, list } = setUp();
  await held.hold(HELD, [makeAlert(1), makeAlert(2)]);
  await held.approve([GONE]);
  const since = '2026-11-20T12:00:00.000Z';
  expect(await list()).toEqual([
    { ...{ id: ONCALL.id, kind: 'email', label: 'oncall@example.com' }, state: 'config', protocols: [], waiting: 0 },
    {
      ...{ id: NEW.id, kind: 'slack', label: 'C1', state: 'new', protocols: ['Vault', 'Bridge'], waiting: 0 },
      disabled: true,
    },
    { ...{ id: HELD.id, kind: 'slack', label: 'C2', state: 'held', protocols: [], waiting: 2 }, since },
    { id: ALLOWED.id, kind: 'slack', label: 'C3', state: 'allowed', protocols: [], waiting: 0 },
    { ...{ id: GONE.id, kind: 'telegram', label: '7', state: 'approved', protocols: [], waiting: 0 }, since },
  ]);
});

test('a decision is the state of a destination until the next one, whether alerts are held or not', async () => {
  const { held, find } = setUp();
  await held.hold(HELD, [makeAlert(1)]);
  await held.revoke(HELD);
  expect((await find(HELD.id)).state).toBe('revoked');
  await held.approve([HELD]);
  expect((await find('C2')).state).toBe('approved');
});

test('a name that names nothing, or several, is refused with what there is', async () => {
  const { held, find } = setUp();
  await expect(find('C9')).rejects.toThrow("no destination is known by the name 'C9'");
  const twin = destinationOf('telegram', 'other', 'C1');
  await held.approve([twin]);
  await expect(find('C1')).rejects.toThrow(`several destinations are called 'C1': ${NEW.id}, ${twin.id}`);
});

test('an approval sends what is held, a drop gives it up; where nothing is held nothing is done', async () => {
  const { held, approve, drop, acts } = setUp();
  await held.hold(HELD, [makeAlert(1)]);
  expect(await drop(NEW)).toBe(0);
  expect(await approve([NEW, HELD])).toEqual([0, 3]);
  expect(await held.approved()).toEqual(new Set([NEW.id, HELD.id]));
  expect(acts).toEqual(['release C2']);
  expect(await drop(HELD)).toBe(2);
});

test('an approval counts what was held, also where a daemon queues it first', async () => {
  const { held, approve } = setUp({ releases: 0 });
  await held.hold(HELD, [makeAlert(1), makeAlert(2)]);
  expect(await approve([HELD])).toEqual([2]);
});
