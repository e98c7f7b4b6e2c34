import { describe, expect, test } from 'vitest';
import { createProxyFor, readProxyVariables } from '../../src/connection/proxy-variables.ts';

const proxyFor = (environment: Record<string, string>) =>
  createProxyFor(
    readProxyVariables(environment, (variable) => {
      throw new Error(variable);
    }),
  );

const shown = (environment: Record<string, string>, url: string) => {
  const chosen = proxyFor(environment)(url);
  return chosen && `${chosen.key} ${chosen.url.reveal()}`;
};

const BOTH = { HTTPS_PROXY: 'http://secure.example:1', HTTP_PROXY: 'http://plain.example:2' };

test.each<[Record<string, string>, string, string | undefined]>([
  [{}, 'https://a.example/', undefined],
  [BOTH, 'https://a.example/', 'HTTPS_PROXY http://secure.example:1'],
  [BOTH, 'http://a.example/', 'HTTP_PROXY http://plain.example:2'],
  [{ HTTPS_PROXY: BOTH.HTTPS_PROXY }, 'http://a.example/', undefined],
  [{ ...BOTH, https_proxy: 'http://small.example:3' }, 'https://a.example/', 'https_proxy http://small.example:3'],
  [{ ...BOTH, https_proxy: '' }, 'https://a.example/', 'HTTPS_PROXY http://secure.example:1'],
  [{ HTTPS_PROXY: 'proxy.example:3128' }, 'https://a.example/', 'HTTPS_PROXY http://proxy.example:3128'],
  [{ HTTPS_PROXY: 'https://proxy.example' }, 'https://a.example/', 'HTTPS_PROXY https://proxy.example'],
])('%j leads to %s through %s', (environment, url, expected) => expect(shown(environment, url)).toBe(expected));

test.each(['localhost', '127.0.0.1', '127.8.9.1', '[::1]', 'a.localhost'])('%s is this machine', (host) =>
  expect(shown(BOTH, `https://${host}:8080/`)).toBeUndefined(),
);

describe('NO_PROXY', () => {
  test.each([
    ['*', 'https://a.example/', true],
    ['a.example', 'https://a.example/', true],
    ['A.Example.', 'https://a.EXAMPLE/', true],
    ['a.example', 'https://b.a.example/', true],
    ['.a.example', 'https://b.a.example/', true],
    ['*.a.example', 'https://b.a.example/', true],
    ['a.example', 'https://ba.example/', false],
    ['b.a.example', 'https://a.example/', false],
    ['x.example, a.example', 'https://a.example/', true],
    ['x.example a.example', 'https://a.example/', true],
    ['a.example:443', 'https://a.example/', true],
    ['a.example:8443', 'https://a.example/', false],
    ['a.example:8443', 'https://a.example:8443/', true],
    ['10.0.0.0/8', 'https://10.1.2.3/', true],
    ['10.0.0.0/8', 'https://11.1.2.3/', false],
    ['10.0.0.0/8', 'https://a.example/', false],
    ['10.0.0.0/99', 'https://10.1.2.3/', false],
    ['10.1.2.3', 'https://10.1.2.3/', true],
    ['2.3', 'https://10.1.2.3/', false],
    ['fd00::/8', 'https://[fd00::1]/', true],
    ['fd00::1', 'https://[fd00::1]/', true],
    ['[fd00::1]:8443', 'https://[fd00::1]:8443/', true],
    ['', 'https://a.example/', false],
  ])('%j means %s: %j', (NO_PROXY, url, isMeant) =>
    expect(shown({ ...BOTH, NO_PROXY }, url) === undefined).toBe(isMeant),
  );

  test('in small letters wins', () =>
    expect(shown({ ...BOTH, NO_PROXY: '*', no_proxy: 'b.example' }, 'https://a.example/')).toBeDefined());
});

test.each(['socks5://proxy.example:1080', 'http://proxy.example/path', 'http://two words'])(
  '%s is a problem of its variable',
  (text) => {
    const problems: string[] = [];
    expect(readProxyVariables({ https_proxy: text }, (variable) => void problems.push(variable))).toBeUndefined();
    expect(problems).toEqual(['https_proxy']);
  },
);

test('user and password are in nothing that is printed', () => {
  const variables = readProxyVariables({ HTTPS_PROXY: 'http://u:s3cr3t@proxy.example' }, () => {});
  expect(JSON.stringify(variables)).not.toContain('s3cr3t');
});
