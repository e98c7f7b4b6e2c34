/** Names from outside against real name servers that answer, refuse or stay silent. */
import { createHook } from 'node:async_hooks';
import type { LookupAddress } from 'node:dns';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGuardedPost } from '../../src/channels/http.ts';
import { createResolver, type Resolve, type ResolverOptions } from '../../src/channels/resolver.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { type Answerer, startNameServer } from '../support/name-server.ts';
import { until } from '../support/until.ts';

const nameServer = async (answerer: Answerer) => {
  const server = await startNameServer(answerer);
  onTestFinished(server.close);
  return server;
};

const file = async (text: string): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'resolver-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'file'), text);
  return join(folder, 'file');
};

const PUBLIC = '93.184.216.34';

/** `*.example` has one IPv4 address, `silent*` no server that answers, and nothing else exists. */
const usual: Answerer = (name, family) => {
  if (name.startsWith('silent')) return 'silent';
  if (!name.endsWith('.example')) return 'no-such-name';
  return family === 4 ? [PUBLIC] : [];
};

const setUp = async (answerer: Answerer = usual, options: ResolverOptions = {}) => {
  const server = await nameServer(answerer);
  const asked: string[] = [];
  const system: Resolve = async (host) => {
    asked.push(host);
    throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  };
  const files = { hostsFile: await file(''), resolvConf: await file('') };
  const resolve = createResolver({ servers: [server.address], system, ...files, ...options });
  const codeOf = (host: string) =>
    resolve(host).then(
      () => 'found',
      ({ code }) => code,
    );
  return { server, resolve, codeOf, systemAsked: asked };
};

const four = (address: string): LookupAddress => ({ address, family: 4 });
const six = (address: string): LookupAddress => ({ address, family: 6 });

const countOf = (word: string, words: readonly string[]): number => words.filter((one) => one === word).length;

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}.example`);

describe('silent name servers', () => {
  test('of twenty names stop no other lookup and take no thread of the process', async () => {
    const { codeOf, resolve, systemAsked } = await setUp(usual, { timeoutMs: 1000 });
    const silent = names(20, 'silent').map(codeOf);
    expect(await resolve('good.example')).toEqual([four(PUBLIC)]);
    expect(new Set(await Promise.all(silent))).toEqual(new Set(['ETIMEOUT']));
    expect(systemAsked).toEqual([]);
  });

  test('are not asked again for a while', async () => {
    let time = 0;
    const { codeOf, server } = await setUp(usual, { timeoutMs: 200, now: () => time });
    expect(await codeOf('silent.example')).toBe('ETIMEOUT');
    const before = server.asked.length;
    time += 29_999;
    expect(await codeOf('silent.example')).toBe('ETIMEOUT');
    expect(server.asked).toHaveLength(before);
    time += 1;
    expect(await codeOf('silent.example')).toBe('ETIMEOUT');
    expect(server.asked.length).toBeGreaterThan(before);
  });

  test('a name that exists by now is found when the while is over', async () => {
    let time = 0;
    let exists = false;
    const { codeOf } = await setUp((name, family) => (exists ? usual(name, family) : 'no-such-name'), {
      now: () => time,
    });
    expect(await codeOf('new.example')).toBe('ENOTFOUND');
    exists = true;
    expect(await codeOf('new.example')).toBe('ENOTFOUND');
    time += 30_000;
    expect(await codeOf('new.example')).toBe('found');
    exists = false;
    // What was found is asked for each time: who is dialled is checked each time.
    expect(await codeOf('new.example')).toBe('ENOTFOUND');
  });
});

describe('the bound on lookups at once', () => {
  test('holds; the others wait for their turn', async () => {
    const waiting: (() => void)[] = [];
    const { resolve, server } = await setUp(
      (name, family) => (family === 6 ? [] : new Promise((done) => waiting.push(() => done(usual(name, family))))),
      { mostLookups: 2, timeoutMs: 20_000 },
    );
    const all = Promise.all(names(3, 'slow').map(resolve));
    await until('two are asked for', () => waiting.length === 2);
    expect(server.asked).toHaveLength(2);
    waiting.shift()?.();
    await until('the third is asked for', () => waiting.length === 2);
    expect(new Set(server.asked)).toEqual(new Set(names(3, 'slow')));
    for (const answer of waiting) answer();
    expect(await all).toEqual([[four(PUBLIC)], [four(PUBLIC)], [four(PUBLIC)]]);
  });

  test('learns of a name that waited in vain, which is asked for the next time', async () => {
    const { codeOf, server } = await setUp(usual, { mostLookups: 1, timeoutMs: 300 });
    const all = names(5, 'silent');
    const codes = await Promise.all(all.map(codeOf));
    expect(new Set(codes)).toEqual(new Set(['ETIMEOUT', 'DNS_BUSY']));
    const inVain = all[codes.indexOf('DNS_BUSY')] ?? '';
    expect(server.asked).not.toContain(inVain);
    expect(await codeOf(inVain)).toBe('ETIMEOUT');
    expect(server.asked).toContain(inVain);
  });

  test('one name is asked for once, however many want it', async () => {
    const { promise: allAsk, resolve: answer } = Promise.withResolvers<void>();
    const { resolve, server } = await setUp(async (...query) => {
      await allAsk;
      return usual(...query);
    });
    const asking = [resolve('good.example'), resolve('good.example'), resolve('good.example')];
    // What comes after them has read the hosts file, and so have they.
    for (let turn = 0; turn < 3; turn += 1) await resolve('localhost');
    answer();
    await Promise.all(asking);
    expect(server.asked).toEqual(['good.example']);
  });
});

describe('as the system does it', () => {
  test('names of the hosts file are not asked for, also when the file changes', async () => {
    const hostsFile = await file(
      `127.0.0.1 localhost\n10.0.0.7\tInside.example alias # not.this\n::1 inside.example\nx y\n`,
    );
    const { resolve, server } = await setUp(usual, { hostsFile });
    expect(await resolve('inside.example')).toEqual([four('10.0.0.7'), six('::1')]);
    expect(await resolve('alias')).toEqual([four('10.0.0.7')]);
    expect(await resolve('localhost')).toEqual([four('127.0.0.1')]);
    expect(server.asked).toEqual([]);
    await writeFile(hostsFile, '10.0.0.8 later.example inside.example');
    expect(await resolve('later.example')).toEqual([four('10.0.0.8')]);
    expect(await resolve('not.this.example')).toEqual([four(PUBLIC)]);
  });

  test.each(['localhost', 'localhost.', 'app.localhost'])(
    '%s is this machine, whatever a name server says',
    async (name) => {
      const { resolve, server } = await setUp(() => [PUBLIC]);
      expect(await resolve(name)).toEqual([four('127.0.0.1'), six('::1')]);
      expect(server.asked).toEqual([]);
    },
  );

  test('short names stand for those of the search domains, in their order', async () => {
    const { resolve, codeOf, server } = await setUp(usual, {
      resolvConf: await file('nameserver 192.0.2.1\nsearch nowhere.test svc.example\noptions timeout:1 ndots:2\n'),
    });
    expect(await resolve('receiver.team')).toEqual([four(PUBLIC)]);
    expect(server.asked).toEqual(['receiver.team.nowhere.test', 'receiver.team.svc.example']);
    server.asked.length = 0;
    expect(await resolve('a.b.example')).toEqual([four(PUBLIC)]);
    expect(await codeOf('receiver.')).toBe('ENOTFOUND');
    expect(server.asked).toEqual(['a.b.example', 'receiver']);
  });

  test('a server that refuses is passed over', async () => {
    const refusing = await nameServer(() => 'refused');
    const good = await nameServer(usual);
    const { resolve, systemAsked } = await setUp(usual, { servers: [refusing.address, good.address] });
    expect(await resolve('good.example')).toEqual([four(PUBLIC)]);
    expect(systemAsked).toEqual([]);
  });

  test('both families count, and one of them is enough', async () => {
    const { resolve } = await setUp((name, family) => {
      if (name.startsWith('both')) return family === 4 ? [PUBLIC] : ['::1'];
      return family === 4 ? 'no-such-name' : ['::1'];
    });
    expect(await resolve('both.example')).toEqual([four(PUBLIC), six('::1')]);
    expect(await resolve('six.example')).toEqual([six('::1')]);
  });
});

describe('the system itself', () => {
  test('is asked for what the name servers do not know, one name at once', async () => {
    const waiting: (() => void)[] = [];
    const system: Resolve = (host) =>
      new Promise((done) => waiting.push(() => done([four(host.startsWith('printer') ? '10.0.0.9' : '10.0.0.10')])));
    const { resolve } = await setUp(usual, { system, timeoutMs: 20_000 });
    const all = Promise.all(['printer.local', 'box.local', 'intranet'].map(resolve));
    for (let asked = 1; asked <= 3; asked += 1) {
      await until('one is asked for', () => waiting.length > 0);
      expect(waiting).toHaveLength(1);
      waiting.shift()?.();
    }
    expect(await all).toEqual([[four('10.0.0.9')], [four('10.0.0.10')], [four('10.0.0.10')]]);
  });

  test('is asked where no name server can be', async () => {
    const system: Resolve = async () => [four('10.0.0.9')];
    const { resolve } = await setUp(usual, { system, servers: ['127.0.0.1:1'] });
    expect(await resolve('good.example')).toEqual([four('10.0.0.9')]);
  });

  test('that hangs holds up one thread, and no name', async () => {
    const asked: string[] = [];
    const system: Resolve = (host) => {
      asked.push(host);
      return new Promise(() => {});
    };
    const { codeOf, resolve } = await setUp(usual, { system, timeoutMs: 300 });
    expect(await Promise.all(['a.test', 'b.test', 'c.test'].map(codeOf))).toEqual(Array(3).fill('ENOTFOUND'));
    expect(asked).toHaveLength(1);
    expect(await resolve('good.example')).toEqual([four(PUBLIC)]);
  });
});

describe('the guarded POST', () => {
  const posterTo = async (answerer: Answerer) => {
    const { resolve, server } = await setUp(answerer);
    const guarded = createGuardedPost({ allowHttp: true, allowNetworks: ['127.0.0.1'], resolve });
    onTestFinished(guarded.close);
    const receiver = await startHttpReceiver(() => ({ status: 204, headers: { connection: 'close' } }));
    onTestFinished(receiver.close);
    const { port } = new URL(receiver.origin);
    const post = (host: string) =>
      guarded
        .post({ url: `http://${host}:${port}/in`, headers: {}, body: '{}', signal: AbortSignal.timeout(20_000) })
        .then(
          ({ status }) => status,
          ({ code }) => code,
        );
    return { post, receiver, server };
  };

  test('dials the address that was checked, and checks the next one anew', async () => {
    const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.1'];
    const { post, receiver, server } = await posterTo((_name, family) => (family === 4 ? [answers.shift() ?? ''] : []));
    expect(await post('rebind.example')).toBe(204);
    expect(await post('rebind.example')).toBe('blocked');
    expect(await post('rebind.example')).toBe(204);
    expect(receiver.arrived.map(({ headers }) => headers.host)).toHaveLength(2);
    expect(countOf('rebind.example', server.asked)).toBe(3);
  });

  test('refuses a name with one bad address among good ones, of either family', async () => {
    const { post, receiver } = await posterTo((_name, family) => (family === 4 ? ['127.0.0.1'] : ['::1']));
    expect(await post('mixed.example')).toBe('blocked');
    expect(receiver.arrived).toEqual([]);
  });

  test('asks the system for nothing that can be known without it', async () => {
    const receiver = await startHttpReceiver();
    onTestFinished(receiver.close);
    const guarded = createGuardedPost({ allowHttp: true, allowNetworks: ['localhost'] });
    onTestFinished(guarded.close);
    let threads = 0;
    const hook = createHook({
      init: (_id, type) => {
        if (type === 'GETADDRINFOREQWRAP') threads += 1;
      },
    }).enable();
    onTestFinished(() => void hook.disable());
    const url = receiver.origin.replace('127.0.0.1', 'localhost');
    const { status } = await guarded.post({ url, headers: {}, body: '{}', signal: AbortSignal.timeout(20_000) });
    expect(status).toBe(204);
    expect(threads).toBe(0);
  });
});
