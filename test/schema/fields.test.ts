import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  cidrOrHost,
  count,
  duration,
  formatDuration,
  hostPort,
  httpUrl,
  parseDuration,
  parseHostPort,
  port,
  secret,
} from '../../src/schema/fields.ts';

const rulesOf = (schema: z.ZodType, value: unknown): string[] =>
  schema.safeParse(value).error?.issues.map(({ message }) => message) ?? [];

describe('duration', () => {
  it.each([
    ['500ms', 500],
    ['15s', 15_000],
    ['10m', 600_000],
    ['24h', 86_400_000],
    ['7d', 604_800_000],
  ])('reads %s as %d ms', (text, durationMs) => expect(duration().parse(text)).toBe(durationMs));

  it.each(['', '5', '5 s', '-5s', '1.5s', '5S', '5s ', '1h30m', 's', '1e3s', 15, null, undefined, ['5s']])(
    'refuses %j in one sentence that names the rule',
    (value) =>
      expect(rulesOf(duration(), value)).toEqual(['must be a whole number and a unit: 500ms, 15s, 10m, 24h or 7d']),
  );

  it('keeps its bounds, and no timer waits longer than Node can', () => {
    expect(rulesOf(duration(), '0s')).toEqual(['must be from 1ms to 24d']);
    expect(rulesOf(duration(), '25d')).toEqual(['must be from 1ms to 24d']);
    expect(duration().parse('24d')).toBeLessThan(2 ** 31);
    expect(duration({ minMs: 0 }).parse('0s')).toBe(0);
    expect(rulesOf(duration({ minMs: 1000, maxMs: 60_000 }), '61s')).toEqual(['must be from 1s to 1m']);
  });

  it('is written back without loss', () => {
    fc.assert(
      fc.property(fc.nat(), (durationMs) => {
        expect(parseDuration(formatDuration(durationMs))).toBe(durationMs);
      }),
    );
  });
});

describe('secret', () => {
  it('gives out its value only when asked', () => {
    const value = secret().parse('hunter2');
    expect(value.reveal()).toBe('hunter2');
    expect(`${value} ${JSON.stringify(value)}`).not.toContain('hunter2');
  });

  it.each([
    ['', 'must not be empty'],
    [5, 'must be a text (put quotes around digits)'],
  ])('refuses %j', (value, rule) => expect(rulesOf(secret(), value)).toEqual([rule]));

  it('takes a shape', () => {
    const shaped = secret({ pattern: /^x-/, rule: 'must begin with x-' });
    expect(rulesOf(shaped, 'y')).toEqual(['must begin with x-']);
    expect(shaped.parse('x-1').reveal()).toBe('x-1');
  });
});

describe('httpUrl', () => {
  it.each([
    'https://a.example',
    'http://127.0.0.1:8080/x',
    'https://[::1]/',
    'HTTPS://A.example/a@b?c=d#e',
    'https://xn--bcher-kva.example',
  ])('takes %s as it stands', (url) => expect(httpUrl().parse(url)).toBe(url));

  it.each([
    '',
    'a.example',
    '//a.example',
    '/path',
    'ftp://a.example',
    'https://',
    'https:a.example',
    'https:///a.example',
    'https://user@a.example',
    'https://user:pass@a.example/',
    'https://a.example/a b',
    ' https://a.example',
    'https://a.example\n',
    'https://a.example:99999',
    'javascript:alert(1)',
    7,
  ])('refuses %j in one sentence', (url) =>
    expect(rulesOf(httpUrl(), url)).toEqual(['must be an absolute http or https URL, without user and password']),
  );
});

describe('numbers', () => {
  it.each([0, 65_536, 1.5, '80', Number.NaN, null])('port refuses %j', (value) =>
    expect(rulesOf(port(), value)).toEqual(['must be a whole number from 1 to 65535']),
  );

  it('count has its own bounds', () => {
    expect(count({ min: 0, max: 3 }).parse(0)).toBe(0);
    expect(rulesOf(count({ min: 0, max: 3 }), 4)).toEqual(['must be a whole number from 0 to 3']);
  });
});

describe('cidrOrHost', () => {
  it.each(['10.0.0.0/8', '10.1.2.3', 'fd00::/8', '::1', 'localhost', 'hooks.internal', 'a_b.example', 'xn--p1ai'])(
    'takes %s',
    (text) => expect(cidrOrHost().parse(text)).toBe(text),
  );

  it.each([
    '',
    '10.0.0',
    '10.0.0.0/33',
    'fd00::/129',
    '10.0.0.0/',
    '10.0.0.0/8/8',
    '256.1.1.1',
    'a b',
    '-a',
    'a..b',
    '*.a',
    'http://a',
    'a/8',
  ])('refuses %j', (text) =>
    expect(rulesOf(cidrOrHost(), text)).toEqual([
      'must be a network like 10.0.0.0/8 or fd00::/8, an IP address, or a host name',
    ]),
  );
});

describe('hostPort', () => {
  it.each([
    ['127.0.0.1:9464', '127.0.0.1', 9464],
    ['[::1]:80', '::1', 80],
    ['redis-0.example.com:6379', 'redis-0.example.com', 6379],
  ])('reads %s', (text, host, number) => {
    expect(hostPort().parse(text)).toBe(text);
    expect(parseHostPort(text)).toEqual({ host, port: number });
  });

  it.each(['9464', ':9464', '127.0.0.1', '::1:80', '[127.0.0.1]:80', 'a:65536', 'a:-1', 'a:0', 'a b:1', 'a:1:2'])(
    'refuses %j',
    (text) => expect(rulesOf(hostPort(), text)).toHaveLength(1),
  );

  it('takes port 0 where any port will do', () => expect(hostPort({ anyPort: true }).parse('[::]:0')).toBe('[::]:0'));
});

it('shows every field in the JSON Schema as the operator writes it', () => {
  const schema = z.strictObject({
    wait: duration().prefault('15s').describe('How long.'),
    token: secret(),
    url: httpUrl(),
    port: port(),
  });
  expect(z.toJSONSchema(schema, { io: 'input' })).toMatchObject({
    properties: {
      wait: {
        type: 'string',
        default: '15s',
        pattern: expect.stringContaining('ms|s|m|h|d'),
        description: 'How long.',
      },
      token: { type: 'string', writeOnly: true },
      url: { type: 'string', pattern: expect.stringContaining('[Hh][Tt][Tt][Pp]') },
      port: { type: 'integer', minimum: 1, maximum: 65_535 },
    },
    required: ['token', 'url', 'port'],
    additionalProperties: false,
  });
});
