/** Addresses that must not be reached, each tried for real against the guarded POST. */
import { createServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGuard } from '../../src/channels/guard.ts';
import { createGuardedPost } from '../../src/channels/http.ts';
import type { Resolve } from '../../src/channels/resolver.ts';
import { DeliveryError } from '../../src/errors.ts';

/** What names lead to here. A name that is not listed does not exist. */
const NAMES: Readonly<Record<string, string[]>> = {
  localhost: ['127.0.0.1'],
  'localhost.': ['127.0.0.1'],
  'app.localhost': ['127.0.0.1'],
  '127.0.0.1.nip.example': ['127.0.0.1'],
  'loopback6.example': ['::1'],
  'private10.example': ['10.1.2.3'],
  'private172.example': ['172.16.0.9'],
  'private192.example': ['192.168.1.1'],
  'metadata.example': ['169.254.169.254'],
  'metadata6.example': ['fd00:ec2::254'],
  'azure.example': ['168.63.129.16'],
  'alibaba.example': ['100.100.100.200'],
  'mapped.example': ['::ffff:10.0.0.1'],
  'nat64.example': ['64:ff9b::a00:1'],
  'sixtofour.example': ['2002:7f00:1::'],
  'zone.example': ['fe80::1%eth0'],
  'mixed.example': ['93.184.216.34', '10.0.0.1'],
  'mixed6.example': ['2606:2800:220:1::1', '::1'],
  'nothing.example': [''],
  'garbage.example': ['not an address'],
  'decimal.example': ['2130706433'],
};

const LITERALS = [
  'https://127.0.0.1/',
  'https://127.0.0.1:8443/in',
  'https://127.1/',
  'https://127.0.1/',
  'https://2130706433/',
  'https://0x7f000001/',
  'https://0x7f.1/',
  'https://0177.0.0.1/',
  'https://017700000001/',
  'https://127.0.0.1./',
  'https://①②⑦.⓪.⓪.①/',
  'https://１２７.０.０.１/',
  'https://127%2e0%2e0%2e1/',
  'https://0/',
  'https://0.0.0.0/',
  'https://0.1.2.3/',
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://100.64.0.1/',
  'https://100.100.100.200/latest/meta-data/',
  'https://169.254.169.254/latest/meta-data/',
  'https://[::ffff:169.254.169.254]/',
  'https://172.16.0.1/',
  'https://172.31.255.254/',
  'https://192.0.0.192/',
  'https://192.0.2.1/',
  'https://192.88.99.1/',
  'https://192.168.0.1/',
  'https://198.18.0.1/',
  'https://198.51.100.7/',
  'https://203.0.113.7/',
  'https://224.0.0.1/',
  'https://240.0.0.1/',
  'https://255.255.255.255/',
  'https://168.63.129.16/metadata',
  'https://[::]/',
  'https://[::1]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::127.0.0.1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::a00:1]/',
  'https://[100::1]/',
  'https://[2001::1]/',
  'https://[2001:db8::1]/',
  'https://[2606:4700::5efe:10.0.0.1]/',
  'https://[2606:4700::200:5efe:a00:1]/',
  'https://[2606:4700::5efe:8.8.8.8]/',
  'https://[2002:7f00:1::]/',
  'https://[2002:c0a8:101::1]/',
  'https://[3fff::1]/',
  'https://[5f00::1]/',
  'https://[fc00::1]/',
  'https://[fd00:ec2::254]/',
  'https://[fe80::1]/',
  'https://[fec0::1]/',
  'https://[ff02::1]/',
];

const OTHER_REFUSALS = [
  'http://hooks.example/in',
  'HTTP://93.184.216.34/',
  'ftp://hooks.example/in',
  'file:///etc/passwd',
  'gopher://127.0.0.1:6379/_FLUSHALL',
  'data:text/plain,hello',
  'javascript:alert(1)',
  'ws://hooks.example/',
  'unix:/var/run/docker.sock',
  'https://user@hooks.example/in',
  'https://user:word@hooks.example/in',
  'https://:word@hooks.example/in',
  'https://hooks.example@127.0.0.1/',
  'https://hooks.example:word@[::1]/',
  '//hooks.example/in',
  '/in',
  'hooks.example/in',
  '',
  ' ',
  'https://',
  'https:///',
  'https://[fe80::1%25eth0]/',
  'https://256.1.1.1/',
  'https://1.2.3.4.5/',
  'https://hooks.example:99999/',
  'https://ho oks.example/',
  'https://[::1/',
];

const NAMED = Object.keys(NAMES).map((name) => `https://${name}/in`);

const lookups: string[] = [];
const resolve: Resolve = async (host) => {
  lookups.push(host);
  const addresses = NAMES[host];
  if (addresses === undefined) throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: 'ENOTFOUND' });
  return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
};

describe('guarded POST', () => {
  const strict = createGuardedPost({ allowHttp: false, allowNetworks: [], resolve });
  const withHttp = createGuardedPost({ allowHttp: true, allowNetworks: [], resolve });
  let connections = 0;
  const listener = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  let port = 0;

  beforeAll(async () => {
    await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done));
    const address = listener.address();
    port = typeof address === 'object' && address !== null ? address.port : 0;
  });

  afterAll(async () => {
    await strict.close();
    await withHttp.close();
    listener.close();
  });

  const refusalOf = async (url: string, { post } = strict): Promise<DeliveryError> => {
    const signal = AbortSignal.timeout(20_000);
    const error: unknown = await post({ url, headers: {}, body: '{}', signal }).catch((thrown: unknown) => thrown);
    if (!(error instanceof DeliveryError)) throw new Error(`${url} was not refused: ${String(error)}`);
    return error;
  };

  const blocked = { reason: 'destination-dead', code: 'blocked', maybeDelivered: false };

  test('the tables hold more than a hundred ways in', () => {
    expect(LITERALS.length + OTHER_REFUSALS.length + NAMED.length).toBeGreaterThan(100);
  });

  test.each(LITERALS)('an address is refused without being looked up: %s', async (url) => {
    const before = lookups.length;
    expect(await refusalOf(url)).toMatchObject(blocked);
    expect(await refusalOf(url.replace('https:', 'http:'), withHttp)).toMatchObject(blocked);
    expect(lookups.length).toBe(before);
  });

  test.each(NAMED)('a name that leads there is refused: %s', async (url) => {
    expect(await refusalOf(url)).toMatchObject(blocked);
    expect(await refusalOf(url.replace('https:', 'http:'), withHttp)).toMatchObject(blocked);
  });

  test.each(OTHER_REFUSALS)('what is no plain https address is refused: %j', async (url) => {
    expect(await refusalOf(url)).toMatchObject(blocked);
  });

  test('nothing listens in vain: no connection was made, even to a port where somebody waits', async () => {
    for (const host of ['127.0.0.1', 'localhost', 'app.localhost', '127.1', '[::ffff:127.0.0.1]']) {
      expect(await refusalOf(`http://${host}:${port}/`, withHttp)).toMatchObject(blocked);
    }
    expect(connections).toBe(0);
  });

  test('a refusal names the host and nothing after it', async () => {
    const { message, stack } = await refusalOf('https://private10.example/hook/s3cr3t?key=s3cr3t#s3cr3t');
    expect(message).toContain('private10.example');
    expect(`${message}${stack}`).not.toContain('s3cr3t');
    const withPassword = await refusalOf('https://user:s3cr3t@hooks.example/');
    expect(`${withPassword.message}${withPassword.stack}`).not.toContain('s3cr3t');
  });

  test('a name that does not exist is no refusal but a passing fault', async () => {
    expect(await refusalOf('https://nowhere.example/')).toMatchObject({ reason: 'unavailable', code: 'ENOTFOUND' });
  });
});

describe('guard', () => {
  const url = (text: string): URL => new URL(text);

  test.each([
    'https://93.184.216.34/',
    'https://1.1.1.1/',
    'https://172.32.0.1/',
    'https://100.128.0.1/',
    'https://[2606:4700:4700::1111]/',
    'https://[2606:4700::1:5efe:a00:1]/',
    'https://[2606:5efe:5efe:5efe::1]/',
    'https://[::ffff:1.1.1.1]/',
    'https://hooks.example/',
    'https://hooks.example:8443/',
    'https://bücher.example/',
  ])('%s is let through', (text) => {
    expect(createGuard({ allowHttp: false, allowNetworks: [] }).refuseUrl(url(text))).toBeUndefined();
  });

  test('networks, addresses and hosts of the list are let through, their neighbours are not', () => {
    const { refuseAddress } = createGuard({
      allowHttp: false,
      allowNetworks: ['10.1.0.0/16', '192.168.7.7', 'fd12::/16', 'Hooks.Internal.'],
    });
    expect(refuseAddress('10.1.255.1', 'a.example')).toBeUndefined();
    expect(refuseAddress('::ffff:10.1.2.3', 'a.example')).toBeUndefined();
    expect(refuseAddress('192.168.7.7', 'a.example')).toBeUndefined();
    expect(refuseAddress('fd12::1', 'a.example')).toBeUndefined();
    expect(refuseAddress('172.16.0.1', 'hooks.internal')).toBeUndefined();
    expect(refuseAddress('10.2.0.1', 'a.example')).toMatch(/not public/);
    expect(refuseAddress('192.168.7.8', 'a.example')).toMatch(/not public/);
    expect(refuseAddress('fd13::1', 'a.example')).toMatch(/not public/);
    expect(refuseAddress('172.16.0.1', 'evil-hooks.internal')).toMatch(/not public/);
    expect(refuseAddress('172.16.0.1', 'hooks.internal.evil.example')).toMatch(/not public/);
  });

  test('what is denied is refused, be it public, allowed, or the allowed name of a host', () => {
    const { refuseAddress, refuseUrl } = createGuard({
      allowHttp: false,
      allowNetworks: ['10.0.0.0/8', 'hooks.internal'],
      denyNetworks: ['93.184.216.0/24', '10.0.0.7', '2606:2800:64::/96'],
    });
    const denied = 'leads to an address that is denied (channels.webhook.denyNetworks)';
    expect(refuseUrl(url('https://93.184.216.34/'))).toBe(denied);
    expect(refuseAddress('93.184.216.34', 'a.example')).toBe(denied);
    expect(refuseAddress('::ffff:93.184.216.34', 'a.example')).toBe(denied);
    expect(refuseAddress('10.0.0.7', 'a.example')).toBe(denied);
    expect(refuseAddress('10.0.0.7', 'hooks.internal')).toBe(denied);
    // 10.0.0.1, as a NAT64 of the team's own prefix reaches it.
    expect(refuseAddress('2606:2800:64::a00:1', 'a.example')).toBe(denied);
    expect(refuseAddress('93.184.217.34', 'a.example')).toBeUndefined();
    expect(refuseAddress('10.0.0.8', 'a.example')).toBeUndefined();
    expect(refuseAddress('2606:2800:65::a00:1', 'a.example')).toBeUndefined();
  });

  test('a refusal names the key that opens it, where one does', () => {
    const { refuseUrl, refuseAddress } = createGuard({ allowHttp: false, allowNetworks: [] });
    const plainHttp = 'is plain http, which is not allowed (channels.webhook.allowHttp)';
    expect(refuseUrl(url('http://8.8.8.8/'))).toBe(plainHttp);
    const notPublic = 'leads to an address that is not public (channels.webhook.allowNetworks)';
    expect(refuseUrl(url('https://10.0.0.1/'))).toBe(notPublic);
    expect(refuseUrl(url('http://10.0.0.1/'))).toBe(`${plainHttp}, and ${notPublic}`);
    expect(refuseUrl(url('http://hooks.example/'))).toMatch(/allowHttp\); .*allowNetworks$/);
    const known = createGuard({ allowHttp: false, allowNetworks: ['hooks.example', '10.0.0.0/8'] });
    expect(known.refuseUrl(url('http://hooks.example/'))).toBe(plainHttp);
    expect(known.refuseUrl(url('http://10.0.0.1/'))).toBe(plainHttp);
    expect(refuseAddress('10.0.0.1', 'hooks.example')).toBe(notPublic);
    expect(refuseUrl(url('ftp://hooks.example/'))).not.toContain('channels.webhook');
  });

  test('a list with a broken network does not go unnoticed', () => {
    expect(() => createGuard({ allowHttp: false, allowNetworks: ['10.0.0.0/33'] })).toThrow();
    expect(() => createGuard({ allowHttp: false, allowNetworks: ['10.0.0/8'] })).toThrow();
  });
});
