/** A network of its own: a service and a Redis with certificates of a private authority, and a proxy to everything. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createCertificate } from '../support/certificate.ts';
import { startProxy } from '../support/proxy.ts';
import { lacksTls, ownTlsRedis } from '../support/redis-server.ts';
import { SANDBOX } from './config.ts';
import { startWorld } from './world.ts';

const authority = { ...createCertificate({ name: 'Our CA' }), name: 'Our CA' };
const server = createCertificate({ issuer: authority });
const ours = { ca: authority.cert, ...createCertificate({ name: 'tocsin', issuer: authority }) };

/** https in front of a server of plain http, for clients with a certificate of the authority; gives its port. */
const startFront = async (target: () => number): Promise<number> => {
  const options = { ...server, ca: authority.cert, requestCert: true, rejectUnauthorized: true };
  const front = createServer(options, (client) => {
    const behind = connect(target(), '127.0.0.1');
    client.on('error', () => behind.destroy()).on('close', () => behind.destroy());
    behind.on('error', () => client.destroy()).on('close', () => client.destroy());
    client.pipe(behind).pipe(client);
  });
  front.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void front.close());
  return (front.address() as { port: number }).port;
};

const startSecureRedis = async (): Promise<string> => {
  const directory = mkdtempSync(join(tmpdir(), 'tocsin-tls-'));
  const file = (name: string, text: string): string => {
    writeFileSync(join(directory, name), text);
    return join(directory, name);
  };
  const tls = ['--tls-cert-file', file('cert.pem', server.cert), '--tls-key-file', file('key.pem', server.key)];
  const redis = await ownTlsRedis(
    [...tls, '--tls-ca-cert-file', file('ca.pem', authority.cert)],
    '--requirepass',
    'pa55',
  );
  onTestFinished(async () => {
    await redis.remove();
    rmSync(directory, { recursive: true, force: true });
  });
  return `rediss://:pa55@localhost:${redis.port}/1`;
};

test('alerts arrive by every channel', async ({ skip }) => {
  const missing = lacksTls();
  if (missing !== undefined) skip(missing);
  const proxy = await startProxy();
  onTestFinished(proxy.close);
  const redisUrl = await startSecureRedis();
  let servicePort = 0;
  const front = await startFront(() => servicePort);
  const through = { proxy: proxy.origin };
  const world = await startWorld({
    names: ['Vault'],
    config: ({ service }) => {
      const { port, pathname } = new URL(service.url);
      servicePort = Number(port);
      return {
        redis: { url: redisUrl, ...ours, ...through },
        services: [{ ...SANDBOX, baseUrl: `https://localhost:${front}${pathname}`, ...ours, ...through }],
        channels: { slack: through, telegram: through, webhook: through },
      };
    },
  });
  const daemon = await world.start();
  world.critical('Vault', 3);
  await world.balanced();
  const { slack, telegram, webhook } = world.addresses;
  const hosts = [slack.apiUrl, telegram.apiRoot, webhook.url].map((url) => new URL(url).host);
  const { host } = new URL(redisUrl);
  expect(new Set(proxy.asked)).toEqual(new Set([host, `localhost:${front}`, ...hosts]));
  expect(daemon.log().filter(({ level }) => level === 'error')).toEqual([]);
});
