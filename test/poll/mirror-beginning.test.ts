import { expect, test } from 'vitest';
import type { Track } from '../../src/poll/cursor.ts';
import { createBeginning } from '../../src/poll/mirror.ts';
import { T0 } from '../support/items.ts';

const TRACK: Track = { service: 'main', source: 'inspections', protocol: 'Vault' };
const MINUTE = 60_000;
/** The service's clock is ten seconds behind ours. */
const BEHIND = 10_000;

const startOf = async (changes: Partial<Parameters<typeof createBeginning>[0]>): Promise<number> => {
  const recalled: Track[] = [];
  const beginningOf = createBeginning({
    startFrom: 'now',
    clock: () => T0 - BEHIND,
    recall: () => undefined,
    onRecalled: (track) => recalled.push(track),
    reasonFor: async () => undefined,
    now: () => T0,
    ...changes,
  });
  const beginning = await beginningOf(TRACK);
  expect(beginning).toEqual({ start: beginning.start, position: beginning.start, sweptTo: beginning.start });
  expect(recalled).toEqual([]);
  return beginning.start;
};

test.each([
  ['now', 'now' as const, T0 - BEHIND],
  ['a duration back', { agoMs: 5 * MINUTE }, T0 - BEHIND - 5 * MINUTE],
  ['a moment', { at: '2026-01-31T08:00:00.000Z' }, Date.parse('2026-01-31T08:00:00.000Z')],
])('the very first read begins where the config says, by the clock of the service: %s', async (_, startFrom, start) => {
  expect(await startOf({ startFrom })).toBe(start);
});

test('a protocol that is new in the listing is read from the listing before', async () => {
  expect(await startOf({ reasonFor: async () => ({ since: T0 - 3 * MINUTE, includedSince: 0 }) })).toBe(
    T0 - BEHIND - 3 * MINUTE,
  );
});

test('that does not cut what the config asks for', async () => {
  const startFrom = { agoMs: 60 * MINUTE };
  expect(await startOf({ startFrom, reasonFor: async () => ({ since: T0 - 3 * MINUTE, includedSince: 0 }) })).toBe(
    T0 - BEHIND - 60 * MINUTE,
  );
});

test('a cursor that Redis lost is taken from its copy, and that is reported', async () => {
  const copy = { start: T0 - 9 * MINUTE, position: T0 - 2 * MINUTE, sweptTo: T0 - 3 * MINUTE };
  const recalled: unknown[] = [];
  const beginningOf = createBeginning({
    startFrom: 'now',
    clock: () => T0,
    recall: ({ protocol }) => (protocol === 'Vault' ? copy : undefined),
    onRecalled: (track, cursor) => recalled.push([track, cursor]),
    reasonFor: async () => undefined,
    now: () => T0,
  });
  expect(await beginningOf(TRACK)).toEqual(copy);
  expect(recalled).toEqual([[TRACK, copy]]);
  expect((await beginningOf({ ...TRACK, protocol: 'Bridge' })).position).toBe(T0);
});

test('a copy from before the config left the track out is not used: it would bring what came meanwhile', async () => {
  const copy = { start: T0 - 90 * MINUTE, position: T0 - 60 * MINUTE, sweptTo: T0 - 60 * MINUTE };
  const since = T0 - 3 * MINUTE;
  const reasonFor = async () => ({ since, includedSince: since });
  expect(await startOf({ recall: () => copy, reasonFor })).toBe(since - BEHIND);
});
