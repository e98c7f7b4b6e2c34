import { expect, test } from 'vitest';
import { heardText, silentText } from '../../../src/features/silence/message.ts';

const HOUR = 3_600_000;

test('one protocol, with its habit or with what is expected of it', () => {
  const usual = silentText('main', [{ protocol: 'Lending\nPool', forMs: 6 * HOUR, usualMs: 240_000 }]);
  expect(usual.split('\n')[0]).toBe(
    'Nothing has been inspected of Lending Pool of the monitoring service main for 6 h; usually one comes every 4 min.',
  );
  const expected = silentText('main', [{ protocol: 'Vault', forMs: 3 * HOUR, expectEvery: 2 * HOUR }]);
  expect(expected).toContain('main for 3 h; expectEvery: 2 h.');
});

test('several are one message, that names some of them', () => {
  const many = Array.from({ length: 30 }, (_, n) => ({ protocol: `p${n}`, forMs: HOUR, usualMs: 60_000 }));
  const text = silentText('main', many);
  expect(text).toMatch(
    /^Nothing has been inspected of 30 protocols of the monitoring service main for long\.\n- p0: for 60 min; usually/,
  );
  expect(text).toContain('- and 20 more');
});

test('the end', () => {
  const since = '2026-11-20T10:00:00.000Z';
  expect(heardText('main', { protocols: ['Vault', 'Bridge'], gone: 0, since })).toBe(
    'Inspected again: Vault, Bridge of the monitoring service main.\nNothing was inspected since 2026-11-20 10:00:00 UTC.',
  );
  expect(heardText('main', { protocols: ['Vault'], gone: 1, since })).toMatch(/^Not watched any more: Vault of /);
});
