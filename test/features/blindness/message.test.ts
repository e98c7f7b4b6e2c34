import { expect, test } from 'vitest';
import { readAgainText, unreadText } from '../../../src/features/blindness/message.ts';

const whole = { service: 'main', protocols: [], since: '2026-11-20T10:00:00.000Z' };

test('a service that cannot be read', () => {
  expect(unreadText({ ...whole, reason: 'connect ECONNREFUSED 10.0.0.1:443', watched: 12 })).toBe(
    [
      'The monitoring service “main” cannot be read: connect ECONNREFUSED 10.0.0.1:443.',
      'Since 2026-11-20 10:00:00 UTC. No alert of its 12 protocols can be found meanwhile. As soon as it answers again, what was missed is read: those alerts come late, and none is lost.',
      'To do: see whether the service answers and accepts the API key; if it is down, ask the people who run it. To see what it answers, run: tocsin check --online',
    ].join('\n'),
  );
});

test('a service that was never listed', () => {
  expect(unreadText({ ...whole, watched: 0 })).toContain('It was never listed');
});

test('protocols are named, a few of many, and a name cannot fake a line', () => {
  const one = unreadText({ ...whole, protocols: ['Va\nult'], watched: 3 });
  expect(one).toMatch(/^The protocol “Va ult” at the monitoring service “main” cannot be read\.\n/);
  expect(one).toContain('2 others are read');
  const names = Array.from({ length: 12 }, (_, n) => `p${n}`);
  const many = unreadText({ ...whole, protocols: names, watched: 40 });
  expect(many).toMatch(
    /^12 protocols at the monitoring service “main” cannot be read\.\nThey are “p0”, .*“p9” and 2 more\./,
  );
});

test('the end says for how long, and what was caught up', () => {
  const end = { ...whole, reason: 'HTTP 503', gone: 0, forMs: 12 * 60_000, caughtUp: { alerts: 2, isBound: false } };
  expect(readAgainText(end)).toBe(
    [
      'The monitoring service “main” is read again.',
      'It could not be read for 12 min, since 2026-11-20 10:00:00 UTC: HTTP 503.',
      'What was missed is read now: 2 alerts of that time. They come late.',
    ].join('\n'),
  );
  expect(readAgainText({ ...end, caughtUp: { alerts: 0, isBound: false } })).toContain('Nothing to alert about');
  expect(readAgainText({ ...end, caughtUp: { alerts: 5000, isBound: true } })).toContain('more than 5000 alerts');
  const gone = readAgainText({ ...end, protocols: ['Vault'], gone: 1 });
  expect(gone).toMatch(/^The protocol “Vault” at the monitoring service “main” is no longer listed\.\n/);
  expect(gone).not.toContain('What was missed');
});
