/** The configuration, rates and operators' actions as the page words them. */
import { expect, test } from 'vitest';
import { actionDetails, configEntries, rateText } from '../../../src/features/page/details.ts';
import { createScrubber, createSecret } from '../../../src/secret.ts';

const valuesOf = (config: object): Record<string, string> =>
  Object.fromEntries(configEntries(config, createScrubber(['hunter22'])).map(({ key, value }) => [key, value]));

test('the configuration is shown by key, without anything secret', () => {
  const shown = valuesOf({
    services: [
      { name: 'main', apiKey: createSecret('k-123456'), baseUrl: 'https://u:hunter22@monitor.example.com/api' },
    ],
    poll: { overlap: 5000, interval: 'auto' },
    channels: { webhook: { secrets: { 'https://hooks.example.com/T0/hunter22': [createSecret('whsec_x')] } } },
    protocols: { include: ['*', 'A'], exclude: [], overrides: {} },
    note: 'the password is hunter22',
  });
  expect(shown).toMatchObject({
    'services.0.name': 'main',
    'services.0.apiKey': '[secret]',
    'services.0.baseUrl': 'https://monitor.example.com/…',
    'poll.overlap': '5 s',
    'poll.interval': 'auto',
    'protocols.include': '*, A',
    'protocols.exclude': 'none',
    note: 'the password is [secret]',
  });
  expect(JSON.stringify(shown)).not.toMatch(/hunter22|k-123456|whsec_x|T0/);
});

test('a long configuration is cut, which is said', () => {
  const config = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`key${index}`, index]));
  const entries = configEntries(config, (text) => text);
  expect(entries).toHaveLength(401);
  expect(entries.at(-1)).toEqual({ key: 'and 600 more', value: 'see the file' });
});

test('rates', () => {
  expect(rateText({ perSecond: 1, perMinute: 20 })).toBe('1/s, 20/min');
  expect(rateText({ burst: 3 })).toBe('');
});

test('what was done on the page says so, and what has no words yet is named', () => {
  const at = '2026-11-21T10:00:00.000Z';
  expect(actionDetails({ action: 'dead-dropped', dropped: 2, at, by: 'page' })).toEqual({
    at,
    text: 'dropped 2 dead deliveries (on this page)',
  });
  expect(actionDetails({ action: 'dead-dropped', dropped: 2, at, by: 'page', user: 'oncall@example.com' }).text).toBe(
    'dropped 2 dead deliveries (on this page, by oncall@example.com)',
  );
  expect(actionDetails({ action: 'moon-phase', at } as never).text).toBe('moon-phase');
});
