import { expect, test } from 'vitest';
import type { Alert, Destination, Parcel } from '../../../src/alert.ts';
import type { Muted } from '../../../src/features/mutes/active.ts';
import { createExplainSuppression, createFilter } from '../../../src/features/suppression/filter.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';

const MAIL = destinationOf('email', 'a@example.com');
const SLACK = destinationOf('slack', 'C1');
const HOOK = destinationOf('webhook', 'https://hooks.example.com/x');

const MUTE = {
  id: 'mute-1',
  protocols: ['*'],
  detectors: [],
  destinations: [],
  reason: 'upgrade of the pool',
  from: '2026-11-20T10:00:00.000Z',
  until: '2026-11-20T12:00:00.000Z',
};

/** Mail is muted and Slack waits for approval, unless a test says otherwise. */
const setUp = ({ hide = async (): Promise<Destination[] | undefined> => [], muted = [MAIL] } = {}) => {
  const held: Parcel[] = [];
  const hidden: [string, string[]][] = [];
  const calls = { muteOf: 0 };
  const isMuted = ({ id }: Destination): boolean => muted.some((one) => one.id === id);
  const filter = createFilter(
    {
      muteOf: async () => {
        calls.muteOf += 1;
        return (_alert: Alert, one: Destination) => (calls.muteOf === 1 && isMuted(one) ? MUTE : undefined);
      },
      hide: async ({ itemId }: Alert, some: readonly Muted[]) => {
        if (some.length === 0) return [];
        hidden.push([itemId, some.map(({ destination }) => destination.kind)]);
        return hide();
      },
    },
    {
      isOpen: async () => (one: Destination) => one.id !== SLACK.id,
      hold: async (parcels) => held.push(...parcels),
    },
  );
  return { filter, held, hidden, calls };
};

test('muted, held and open destinations go three ways, and mutes come before the approval', async () => {
  const { filter, held, hidden } = setUp({ muted: [MAIL] });
  const filtered = await filter([
    { alert: makeAlert(1), destinations: [MAIL, SLACK, HOOK] },
    { alert: makeAlert(2), destinations: [SLACK] },
  ]);
  expect(filtered.map(({ destinations }) => destinations)).toEqual([[HOOK], []]);
  expect(hidden).toEqual([['item-1', ['email']]]);
  expect(held).toEqual([{ destination: SLACK, alerts: [makeAlert(1), makeAlert(2)] }]);
});

test('where a muted alert is on its way already it goes on, or is held where that is not approved', async () => {
  const { filter, held } = setUp({ muted: [MAIL, SLACK], hide: async () => [MAIL, SLACK] });
  const [filtered] = await filter([{ alert: makeAlert(1), destinations: [MAIL, SLACK] }]);
  expect(filtered?.destinations).toEqual([MAIL]);
  expect(held).toEqual([{ destination: SLACK, alerts: [makeAlert(1)] }]);
});

test('a mute that ended meanwhile hides nothing: the alert is sorted again by what is left', async () => {
  const { filter, calls } = setUp({ hide: async () => undefined });
  const [filtered] = await filter([{ alert: makeAlert(1), destinations: [MAIL] }]);
  expect(filtered?.destinations).toEqual([MAIL]);
  expect(calls.muteOf).toBe(2);
});

test('an explanation names the mute first, then the approval, and nothing where alerts are sent', async () => {
  const explain = createExplainSuppression(
    { peekMuteOf: async () => (_alert, one) => (one.id === MAIL.id ? MUTE : undefined) },
    { isOpen: async () => (one) => one.id === HOOK.id },
  );
  expect(await explain(makeAlert(1), MAIL)).toBe(
    'alerts for it are muted until 2026-11-20 12:00:00 UTC: upgrade of the pool (mute-1)',
  );
  expect(await explain(makeAlert(1), SLACK)).toBe(
    `alerts for it are held: not approved (tocsin destinations approve ${SLACK.id})`,
  );
  expect(await explain(makeAlert(1), HOOK)).toBeUndefined();
});
