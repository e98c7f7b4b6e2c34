/** What is nested too deep, or named too long, is set aside alone. */
import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/alert.ts';
import { decodeProtocolPage, decodeSettings } from '../../src/service/protocols.ts';
import { decodeInspection, decodeNotification, decodePage } from '../../src/service/wire.ts';

const nested = (depth: number): JsonValue => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

const INSPECTION = { _id: 'i-1', assessment: 'critical', protocol: 'Vault' };
const NOTIFICATION = { protocol: 'Vault', message: 'hello' };

test.each([
  ['inspection', decodePage<unknown>((raw) => decodeInspection(raw, 'Vault')), INSPECTION, 'detections'],
  ['notification', decodePage<unknown>((raw) => decodeNotification(raw, ['Vault'])), NOTIFICATION, 'message'],
])('an %s that is nested 5,000 deep is quarantined alone, and can be written', (_name, decode, item, field) => {
  const reading = decode(
    { page: [item, { ...item, [field]: nested(5000) }, { ...item, other: nested(400) }] },
    undefined,
  );
  if (!reading.ok) throw new Error(reading.problem);
  const { items, malformed } = reading.value;
  expect(items).toHaveLength(2);
  expect(malformed).toMatchObject([{ problem: 'nested more than 500 deep', raw: { protocol: 'Vault' } }]);
  expect(JSON.stringify(malformed)).toContain('(nested more than 500 deep)');
});

const listing = (...protocols: JsonValue[]) => {
  const reading = decodeProtocolPage([{ page: protocols.map((one) => ({ protocols: one })) }], undefined);
  if (!reading.ok) throw new Error(reading.problem);
  return reading.value;
};

test('a protocol with a contact that is nested too deep is watched, with its other contacts', () => {
  const contacts = ['oncall@example.com', nested(5000)];
  const settings = { notificationChannels: [{ name: 'email', contacts }] };
  const { items, malformed } = listing({ descriptor: 'Bridge' }, { descriptor: 'Vault', setttings: settings });
  expect(items.map(({ name }) => name)).toEqual(['Bridge', 'Vault']);
  const [channel] = items[1]?.channels ?? [];
  expect(channel?.contacts?.[0]).toBe('oncall@example.com');
  expect(channel?.contacts?.[1]).toContain('(nested more than 500 deep)');
  expect(malformed).toMatchObject([{ problem: 'nested more than 500 deep' }]);
  expect(JSON.stringify(items)).toContain('oncall@example.com');
  expect(JSON.stringify(decodeSettings({ detectors: [nested(5000)] }, undefined))).toContain('nested more than');
});

test('a name of more than 500 characters is quarantined; those beside it are read', () => {
  const { items, malformed } = listing({ descriptor: 'x'.repeat(500) }, { descriptor: 'x'.repeat(501) });
  expect(items.map(({ name }) => name.length)).toEqual([500]);
  expect(malformed).toMatchObject([{ problem: 'a name of 501 characters, more than 500' }]);
});
