import { expect, test } from 'vitest';
import { heardText, silentText } from '../../../src/features/silence/message.ts';

const HOUR = 3_600_000;

test('one protocol, with its habit or with what is expected of it', () => {
  const usual = silentText('main', [{ protocol: 'Lending\nPool', forMs: 6 * HOUR, usualMs: 240_000 }]);
  expect(usual.split('\n')[0]).toBe(
    'Protocol “Lending Pool” has not been inspected for 6 h; usually it is every 4 min.',
  );
  const expected = silentText('main', [{ protocol: 'Vault', forMs: 3 * HOUR, expectEvery: 2 * HOUR }]);
  expect(expected).toContain('for 3 h; it is expected every 2 h.');
  expect(expected).toContain('`tocsin protocols history "Vault"`');
  // A name that a shell would take for more is not written into a command.
  expect(silentText('main', [{ protocol: '$(x)', forMs: HOUR, usualMs: 1 }])).toContain('history NAME`');
});

test('several are one message, that names some of them', () => {
  const many = Array.from({ length: 30 }, (_, n) => ({ protocol: `p${n}`, forMs: HOUR, usualMs: 60_000 }));
  const text = silentText('main', many);
  expect(text).toMatch(/^30 protocols have not been inspected for long\.\n- “p0”: for 60 min; usually/);
  expect(text).toContain('- and 20 more');
});

test('the end', () => {
  const since = '2026-11-20T10:00:00.000Z';
  expect(heardText('main', { protocols: ['Vault', 'Bridge'], gone: 0, since, forMs: 6 * HOUR })).toBe(
    'Inspected again: “Vault”, “Bridge” at the monitoring service “main”.\nNothing was inspected for 6 h, since 2026-11-20 10:00:00 UTC. From now on attacks are found again.',
  );
  expect(heardText('main', { protocols: ['Vault'], gone: 1, since, forMs: 0 })).toMatch(
    /^Protocol “Vault” is not watched any more at /,
  );
});
