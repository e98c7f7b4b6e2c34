import { describe, expect, test } from 'vitest';
import { createHostCheck } from '../../src/ops/server.ts';

const ownHost = 'node-7.example.org';
const loopback = createHostCheck({ host: '127.0.0.1', ownHost });
const everywhere = createHostCheck({ host: '0.0.0.0', ownHost });

/** Where health probes, Prometheus and people come from. */
const ADDRESSES = ['127.0.0.1:9464', '[::1]:9464', '[::1]', '10.244.1.17:9464', '192.0.2.7', '[fd00::17]:9464'];
const LOOPBACK_NAMES = ['localhost', 'localhost:9464', 'LOCALHOST.:9464', 'tocsin.localhost:9464'];
const LOCAL_NAMES = [
  'tocsin:9464',
  'tocsin.monitoring.svc:9464',
  'tocsin.monitoring.svc.cluster.local:9464',
  'monitor.internal',
  'node-7.example.org:9464',
];
const FOREIGN_NAMES = [
  'rebound.example.com',
  'rebound.example.com:9464',
  '127.0.0.1.rebound.example.com',
  'localhost.example.com',
  'notlocalhost.com',
  'a.svc.example.com',
  '1.2.3.4.5',
  'user@localhost',
  'localhost:9464:1',
  '[::1].example.com',
  '[rebound.example.com]',
  'a b',
];

describe('a Host header', () => {
  test.each(ADDRESSES)('%s is an address, which nobody can point elsewhere', (host) => {
    expect([loopback(host), everywhere(host)]).toEqual([true, true]);
  });

  test.each(LOOPBACK_NAMES)('%s is this machine', (host) => {
    expect([loopback(host), everywhere(host)]).toEqual([true, true]);
  });

  test.each(LOCAL_NAMES)('%s is right only where others on the network may ask', (host) => {
    expect([loopback(host), everywhere(host)]).toEqual([false, true]);
  });

  test.each(FOREIGN_NAMES)('%s is refused', (host) => {
    expect([loopback(host), everywhere(host)]).toEqual([false, false]);
  });

  test.each([undefined, ''])('%o comes from no browser', (host) => {
    expect(loopback(host)).toBe(true);
  });

  test('may be the name that is listened on, or that of ops.publicUrl', () => {
    const named = createHostCheck({
      host: 'ops.example.com',
      publicUrl: 'https://Tocsin.example.net:8443/ops/',
      ownHost,
    });
    expect(
      ['ops.example.com:9464', 'tocsin.example.net', 'tocsin.example.net:8443', 'a.example.net'].map(named),
    ).toEqual([true, true, true, false]);
  });

  test('may be any local name where there is no host to listen on: that is every interface', () => {
    expect(createHostCheck({ ownHost })('tocsin:9464')).toBe(true);
  });
});
