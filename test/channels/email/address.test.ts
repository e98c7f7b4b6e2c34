import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseAddress, parseMailbox } from '../../../src/channels/email/address.ts';
import { emailConfig } from '../../../src/channels/email/config.ts';
import { email } from '../../../src/channels/email/module.ts';
import { anyText } from '../../support/texts.ts';
import { TEST_CERTIFICATE, TEST_KEY } from '../../support/tls.ts';

describe('addresses', () => {
  test.each([
    'oncall@example.com',
    "o'neill+pager@mail.example.org",
    'a.b-c_d@sub.example.co',
    'x@localhost',
    '!#$%&*/=?^`{|}~@example.com',
    'ops@xn--bcher-kva.example',
  ])('%s is one', (text) => expect(parseAddress(text)).toBe(text));

  test.each([
    '',
    '@',
    'a@',
    '@b.example',
    'a b@c.example',
    'a@b@c.example',
    '.a@b.example',
    'a.@b.example',
    'a..b@c.example',
    'a@b..example',
    'a@-b.example',
    'a@b-.example',
    'a@b.example.',
    'a@b_c.example',
    'a@[127.0.0.1]',
    'a@127.0.0.1',
    'a@b.123',
    '"a b"@c.example',
    'a(x)@b.example',
    'a@b.example(x)',
    'A <a@b.example>',
    'a@b.example,c@d.example',
    'g:a@b.example;',
    'a@b.example\r\nBcc: c@d.example',
    'a@b.example\n',
    ' a@b.example',
    'ä@b.example',
    'a@bücher.example',
    'a@b.example\u0000',
    `${'a'.repeat(65)}@b.example`,
    `a@${'b'.repeat(64)}.example`,
    `a@${'b.'.repeat(130)}example`,
    'mailto:a@b.example',
    'a\u200b@b.example',
  ])('%j is none', (text) => expect(parseAddress(text)).toBeUndefined());

  test('of one mailbox has one spelling', () => {
    const entry = { name: 'email', contacts: ['A@Example.COM', ' A@example.com ', 'b@example.com'] };
    expect(email.addressesOf(entry)).toEqual({ addresses: ['A@example.com', 'b@example.com'], problems: [] });
  });

  test('what parses is never more than one plain address, for any text', () => {
    fc.assert(
      fc.property(fc.oneof(anyText(), fc.emailAddress()), (text) => {
        expect(parseAddress(text) ?? 'a@b').toMatch(/^[\x21-\x7e]+@[a-z0-9.-]+$/);
        expect(parseAddress(text) ?? '').not.toMatch(/[\s,;:<>()[\]\\"]/);
      }),
    );
  });

  test.each([
    ['Tocsin <tocsin@example.com>', { name: 'Tocsin', address: 'tocsin@example.com' }],
    ['"Tocsin, on call" <tocsin@example.com>', { name: 'Tocsin, on call', address: 'tocsin@example.com' }],
    ['<tocsin@example.com>', { name: '', address: 'tocsin@example.com' }],
    ['tocsin@example.com', { name: '', address: 'tocsin@example.com' }],
    ['Tocsin\r\nBcc: x <tocsin@example.com>', undefined],
    ['A <a@b.example> <c@d.example>', undefined],
    ['Tocsin <>', undefined],
    ['Tocsin', undefined],
  ])('the sender %j is %j', (text, mailbox) => expect(parseMailbox(text)).toEqual(mailbox));
});

describe('config', () => {
  const FROM = 'Tocsin <tocsin@example.com>';
  const smtp = { host: 'smtp.example.com' };
  const login = { user: 'u', pass: 'pa55word' };

  test.each([
    [{ smtp }, /^from must be one address/],
    [{ from: 'Tocsin', smtp }, /^from must be one address/],
    [{ from: FROM }, /^smtp/],
    [{ from: FROM, smtp: { host: 'smtp://x' } }, /^smtp.host must be a host name/],
    [{ from: FROM, smtp: { ...smtp, port: 0 } }, /^smtp.port /],
    [{ from: FROM, smtp: { ...smtp, user: 'u' } }, /^smtp user and pass go together/],
    [{ from: FROM, smtp: { ...smtp, pass: 'p' } }, /^smtp user and pass go together/],
    [{ from: FROM, smtp: { ...smtp, port: 465 } }, /^smtp.secure port 465 speaks TLS/],
    [{ from: FROM, smtp: { ...smtp, secure: 'no' } }, /^smtp.secure must be true or false/],
    [{ from: FROM, smtp: { ...smtp, ignoreTLS: true } }, /^smtp .*ignoreTLS/],
    [{ from: FROM, smtp: { ...smtp, tls: 'starttls' } }, /^smtp.tls must be verify, opportunistic or off$/],
    [{ from: FROM, smtp: { ...smtp, tls: true } }, /^smtp.tls must be verify, opportunistic or off$/],
    [{ from: FROM, smtp: { ...smtp, ca: 'relay.pem' } }, /^smtp.ca must be certificates in PEM/],
    [{ from: FROM, smtp: { ...smtp, ca: TEST_KEY } }, /^smtp.ca must be certificates in PEM/],
    [
      { from: FROM, smtp: { ...smtp, tls: 'off', ca: TEST_CERTIFICATE } },
      /^smtp.ca has no effect unless tls is verify/,
    ],
    [{ from: FROM, smtp: { ...smtp, tls: 'verify', requireTLS: false } }, /^smtp.requireTLS contradicts tls: /],
    [{ from: FROM, smtp: { ...smtp, tls: 'off', requireTLS: true } }, /^smtp.requireTLS contradicts tls: /],
    [{ from: FROM, smtp: { ...smtp, tls: 'opportunistic', requireTLS: true } }, /^smtp.requireTLS contradicts tls: /],
    [{ from: FROM, smtp: { ...smtp, tls: 'off', secure: true } }, /^smtp.secure contradicts tls: off/],
    [{ from: FROM, smtp: { ...smtp, ...login, tls: 'opportunistic' } }, /^smtp.tls must be verify with a password/],
    [{ from: FROM, smtp: { ...smtp, ...login, tls: 'off' } }, /^smtp.tls must be verify with a password/],
  ])('%j is refused', (config, why) => {
    const { error } = emailConfig.safeParse(config);
    expect(JSON.stringify(error)).not.toContain('PRIVATE KEY');
    expect(error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`).join('\n')).toMatch(why);
  });

  test.each<[object, boolean]>([
    [{ ...smtp }, true],
    [{ ...smtp, tls: 'verify', requireTLS: true, ca: TEST_CERTIFICATE, ...login }, true],
    [{ ...smtp, ca: TEST_CERTIFICATE, requireTLS: false, ...login }, false],
    [{ ...smtp, port: 465, tls: 'opportunistic', secure: true }, false],
    [{ ...smtp, tls: 'off', requireTLS: false }, false],
    [{ host: 'localhost', tls: 'off', ...login }, false],
    [{ host: '127.0.0.1', tls: 'opportunistic', ...login }, false],
    [{ host: '::1', tls: 'off', ...login }, false],
  ])('%j is taken, and requires TLS: %j', (given, requireTLS) => {
    expect(emailConfig.parse({ from: FROM, smtp: given }).smtp).toMatchObject({ requireTLS });
  });

  test('asks for TLS unless the config says otherwise, and keeps the password to itself', () => {
    const config = emailConfig.parse({ from: FROM, smtp: { ...smtp, user: 'u', pass: 'pa55word' } });
    expect(config.smtp).toMatchObject({ port: 587, secure: false, requireTLS: true });
    expect(`${inspect(config, { depth: 9 })}${JSON.stringify(config)}`).not.toContain('pa55word');
  });
});
