/** `make pin` against registries of images and packages that are ours, and one that cannot be reached. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/redis-server.ts';

const digest = (digit: string): string => `sha256:${digit.repeat(64)}`;
const HASH = `sha512-${'A'.repeat(86)}==`;
const SCRIPT = new URL('../../scripts/pin.ts', import.meta.url).pathname;

/** Images behind an anonymous token, and packages as npm asks for them. */
const startRegistry = async (): Promise<string> => {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://registry');
    const host = request.headers.host ?? '';
    if (pathname === '/token') {
      response.end(JSON.stringify({ token: `for ${searchParams.get('scope')}` }));
    } else if (pathname === '/v2/team/node/manifests/24-slim') {
      const isKnown = request.headers.authorization === 'Bearer for repository:team/node:pull';
      const challenge = `Bearer realm="http://${host}/token",service="us",scope="repository:team/node:pull"`;
      response.writeHead(isKnown ? 200 : 401, {
        'docker-content-digest': digest('a'),
        ...(isKnown ? {} : { 'www-authenticate': challenge }),
      });
      response.end();
    } else if (decodeURIComponent(pathname) === '/@team/other-platform') {
      const version = { name: '@team/other-platform', version: '1.2.3', dist: { integrity: HASH } };
      response.setHeader('content-type', 'application/json');
      const packument = { name: version.name, 'dist-tags': { latest: '1.2.3' }, versions: { '1.2.3': version } };
      response.end(JSON.stringify(packument));
    } else {
      response.writeHead(404).end('{}');
    }
  });
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  onTestFinished(() => void server.close().closeAllConnections());
  const address = server.address();
  return `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
};

const setUp = async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tocsin-pin-'));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const registry = await startRegistry();
  const write = (file: string, text: string): Promise<void> => writeFile(join(directory, file), text);
  await mkdir(join(directory, 'deploy/kubernetes/components/ha'), { recursive: true });
  const files = [
    ...['Dockerfile', 'docker-compose.yml', 'docker-compose.ha.yml'],
    ...['deploy/kubernetes/redis.yaml', 'deploy/kubernetes/components/ha/redis.yaml'],
  ];
  for (const file of files) await write(file, '');
  const env = {
    ...process.env,
    npm_config_registry: `http://${registry}`,
    npm_config_cache: join(directory, 'cache'),
    npm_config_fetch_retries: '0',
  };
  const pin = (): Promise<{ code: number; said: string }> =>
    new Promise((resolve) => {
      execFile(process.execPath, [SCRIPT, directory], { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), said: stdout + stderr }),
      );
    });
  return { registry, write, read: (file: string) => readFile(join(directory, file), 'utf8'), pin };
};

const lockWith = (entries: object): string =>
  `${JSON.stringify({ name: 'x', packages: { '': {}, ...entries } }, null, 2)}\n`;

test('digests and hashes are written where a registry gives them, and the rest is named', async () => {
  const { registry, write, read, pin } = await setUp();
  const image = `${registry}/team/node:24-slim`;
  const away = `127.0.0.1:${await freePort()}/redis:7-alpine`;
  await write(
    'Dockerfile',
    `FROM ${image} AS packages\nRUN x\nFROM ${image}@${digest('b')}\nCOPY --from=packages a b\n`,
  );
  await write('docker-compose.yml', `a:\n  image: ${away}\nb:\n  image: tocsin\nc:\n  image: ${image} # why\n`);
  const known = { version: '1.0.0', integrity: 'sha512-known' };
  const other = { version: '1.2.3', optional: true };
  await write(
    'package-lock.json',
    lockWith({ 'node_modules/a': known, 'node_modules/@team/other-platform': other, 'node_modules/unknown': other }),
  );

  const { code, said } = await pin();
  expect(code).toBe(75);
  expect(said).toContain(`${away} stays as it is: `);
  expect(said).toContain('unknown@1.2.3 stays without a hash');
  const pinned = `${image}@${digest('a')}`;
  expect(await read('Dockerfile')).toBe(
    `FROM ${pinned} AS packages\nRUN x\nFROM ${pinned}\nCOPY --from=packages a b\n`,
  );
  expect(await read('docker-compose.yml')).toBe(
    `a:\n  image: ${away}\nb:\n  image: tocsin\nc:\n  image: ${pinned} # why\n`,
  );
  const hashed = { version: '1.2.3', integrity: HASH, optional: true };
  expect(await read('package-lock.json')).toBe(
    lockWith({ 'node_modules/a': known, 'node_modules/@team/other-platform': hashed, 'node_modules/unknown': other }),
  );
});

test('a second time nothing changes, and all is well', async () => {
  const { registry, write, read, pin } = await setUp();
  await write('Dockerfile', `FROM ${registry}/team/node:24-slim\n`);
  await write('docker-compose.yml', 'a:\n  image: tocsin\n');
  await write('package-lock.json', lockWith({}));
  expect((await pin()).code).toBe(0);
  const once = await read('Dockerfile');
  expect(once).toContain(digest('a'));
  expect((await pin()).code).toBe(0);
  expect(await read('Dockerfile')).toBe(once);
});
