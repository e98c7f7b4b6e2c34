import { expect, test } from 'vitest';
import { parseConfig } from '../../src/config/load.ts';
import { configNotes } from '../../src/config/remarks.ts';
import { createCertificate } from '../support/certificate.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2026-11-22T12:00:00Z');

const notesOf = (channels: object, more: object = {}): string[] => {
  const services = [{ name: 'main', baseUrl: 'https://monitor.example/api', apiKey: 'key' }];
  return configNotes(parseConfig(JSON.stringify({ services, channels, ...more }), 'tocsin.yaml', {}), NOW);
};

const until = (days: number) => createCertificate({ end: NOW + days * DAY_MS });

test('certificates that expired, will soon, or are not valid yet are named with their key and day', () => {
  const good = until(100).cert;
  const slack = { botToken: 'xoxb-1', ca: good + until(-1).cert };
  const own = until(1);
  const webhook = {
    ...own,
    receivers: { 'hooks.example': { ca: createCertificate({ end: NOW + 100 * DAY_MS }).cert } },
  };
  expect(notesOf({ slack, webhook })).toEqual([
    // A certificate of the tests is valid for two days.
    'channels.slack.ca has a certificate that is not valid before 2027-02-28',
    'channels.slack.ca has a certificate that expired on 2026-11-21',
    'channels.webhook.cert has a certificate that expires on 2026-11-23',
    'channels.webhook.receivers.hooks.example.ca has a certificate that is not valid before 2027-02-28',
  ]);
});

test.each([
  [{ requireTLS: false }, 1],
  [{ requireTLS: false, host: 'localhost' }, 0],
  [{ requireTLS: false, host: '127.0.0.2' }, 0],
  [{ requireTLS: false, port: 465, secure: true }, 0],
  [{ requireTLS: true }, 0],
  [{}, 0],
])('a password that may go in the clear is told: %j', (smtp, notes) => {
  const email = { from: 'a@b.example', smtp: { host: 'relay.example', user: 'u', pass: 'p', ...smtp } };
  expect(notesOf({ email })).toHaveLength(notes);
});

test('without a password there is nothing to read', () => {
  const email = { from: 'a@b.example', smtp: { host: 'relay.example', requireTLS: false } };
  expect(notesOf({ email })).toEqual([]);
});

test.each([
  ['correct-horse-battery', true],
  ['passwordpassword2026!', true],
  ['0000000000000000', true],
  ['abcabcabc123123123', true],
  ['q8Zr1vN5cX0tLw3KdU7b', false],
  ['7f0c2d9a41be58367f0c2d9a', false],
])('whether a token for the page looks thought of: %j', (token, isTold) => {
  const notes = notesOf({ webhook: {} }, { ops: { token } });
  expect(notes).toEqual(isTold ? [expect.stringContaining('`openssl rand -base64 24`')] : []);
});
