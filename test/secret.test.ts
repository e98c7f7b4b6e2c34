import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ChannelKind } from '../src/alert.ts';
import { createLearningScrubber, createScrubber } from '../src/secret.ts';
import { anyCharacter } from './support/texts.ts';

const KEY = "key/4+9 ü'Z(7)";
const scrub = createScrubber([KEY, 'p@ss']);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

test.each([
  ['as it is', KEY],
  ['in a URL', encodeURIComponent(KEY)],
  ['in a URL, in lower case', encodeURIComponent(KEY).replace(/%../g, (code) => code.toLowerCase())],
  ['in a URL, as RFC 3986 has it', 'key%2F4%2B9%20%C3%BC%27Z%287%29'],
  ['in a form', new URLSearchParams({ '': KEY }).toString().slice(1)],
  ['in JSON', JSON.stringify(KEY).slice(1, -1).replaceAll('/', '\\/')],
  ['in base64', base64(KEY)],
  ['in base64 without padding', base64(KEY).replaceAll('=', '')],
  ['in base64url', Buffer.from(KEY).toString('base64url')],
  ['in base64 of a bearer token', base64(`Bearer ${KEY}`)],
  ['in base64 of user and password', base64(`user:${KEY}`)],
  ['in base64 of a short password', base64('user:p@ss')],
  ['as SMTP has it', base64('\0user\0p@ss')],
])('a secret is hidden %s', (_how, said) => {
  expect(scrub(`refused (${said}), try again`)).toBe('refused ([secret]), try again');
});

test('wherever it stands in what was encoded, nothing of the secret can be decoded', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), fc.string({ unit: anyCharacter }), (before, after) => {
      for (const form of ['base64', 'base64url'] as const) {
        const said = Buffer.from(`${before}${KEY}${after}`).toString(form);
        expect(scrub(`said ${said}.`)).toBe('said [secret].');
      }
    }),
  );
});

test('what is encoded and holds no secret stays', () => {
  const text = `id 0x${'ab'.repeat(32)} ${base64('user:another, longer one')} https://hooks.example/a/b?c=%2F`;
  expect(scrub(text)).toBe(text);
});

test('however many configs are read and refused, the secrets in force stay hidden, and those of the one before', () => {
  const { scrub, learn, keep } = createLearningScrubber();
  keep(['secret-in-force']);
  for (let n = 0; n < 50; n += 1) learn([`refused-${n}`]);
  expect(scrub('secret-in-force')).toBe('[secret]');
  keep(['secret-of-the-next']);
  expect(scrub('secret-in-force secret-of-the-next refused-49')).toBe('[secret] [secret] [secret]');
});

/** What a kind's provider repeats in URLs and texts. A mailbox's password looks like any text. */
const TOKENS: Record<ChannelKind, readonly string[]> = {
  email: [],
  telegram: [`bot123456:${'aB-_'.repeat(9)}`, `123456789:${'aB-_'.repeat(9)}`],
  slack: ['xoxb-12-34-ab', 'xapp-1-A1-2-ab', 'hooks.slack.com/services/T0/B0/abc'],
  webhook: ['whsec_YWJjZA=='],
};

test.each(Object.entries(TOKENS))('what looks like a token of %s is hidden, wherever it came from', (_kind, tokens) => {
  const scrubUnknown = createScrubber([]);
  for (const token of tokens) expect(scrubUnknown(`refused: ${token} !`)).toBe('refused: [secret] !');
});
