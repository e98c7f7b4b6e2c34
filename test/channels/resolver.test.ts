/** Names from outside: how many are looked up at once, what a silent name server holds up, and what the guard makes of an answer. */
import type { LookupAddress } from 'node:dns';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createGuardedPost } from '../../src/channels/http.ts';
import { createResolver, MOST_LOOKUPS, type Resolve, type ResolverOptions } from '../../src/channels/resolver.ts';
import { THREADS } from '../../src/cli/heap.ts';
import { startHttpReceiver } from '../support/http-receiver.ts';
import { until } from '../support/until.ts';

const four = (address: string): LookupAddress => ({ address, family: 4 });
const six = (address: string): LookupAddress => ({ address, family: 6 });

const PUBLIC = '93.184.216.34';

const refusing = async (code: string): Promise<never> => {
  throw Object.assign(new Error(code), { code });
};

/** `*.example` has one IPv4 address, `silent*` no server that answers, and nothing else exists. */
const usual: Resolve = async (host) => {
  if (host.startsWith('silent')) return new Promise(() => {});
  return host.endsWith('.example') ? [four(PUBLIC)] : refusing('ENOTFOUND');
};

const setUp = (system = usual, options: ResolverOptions = {}) => {
  const asked: string[] = [];
  const resolve = createResolver({
    system: (host) => {
      asked.push(host);
      return system(host);
    },
    ...options,
  });
  const codeOf = (host: string) =>
    resolve(host).then(
      () => 'found',
      ({ code }) => code,
    );
  return { resolve, codeOf, asked };
};

const names = (count: number, prefix: string) =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}.example`);

describe('silent name servers', () => {
  test('of twenty names stop no other lookup', async () => {
    const { codeOf, resolve } = setUp(usual, { timeoutMs: 1000 });
    const silent = names(20, 'silent').map(codeOf);
    expect(await resolve('good.example')).toEqual([four(PUBLIC)]);
    expect(new Set(await Promise.all(silent))).toEqual(new Set(['ETIMEOUT']));
  });

  test('are not asked again for a while', async () => {
    let time = 0;
    const { codeOf, asked } = setUp(usual, { timeoutMs: 200, now: () => time });
    expect(await codeOf('silent.example')).toBe('ETIMEOUT');
    time += 29_999;
    expect(await codeOf('silent.example')).toBe('ETIMEOUT');
    expect(asked).toHaveLength(1);
    time += 1;
    expect(await codeOf('silent.example')).toBe('ETIMEOUT');
    expect(asked).toHaveLength(2);
  });

  test('a name that exists by now is found when the while is over', async () => {
    let time = 0;
    let exists = false;
    const { codeOf } = setUp((host) => (exists ? usual(host) : refusing('ENOTFOUND')), { now: () => time });
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
  test('leaves threads for the lookups of Redis, of the mail server and of the providers', () => {
    expect(MOST_LOOKUPS).toBeLessThanOrEqual(THREADS / 2 - 16);
  });

  test('holds; the others wait for their turn', async () => {
    const waiting: (() => void)[] = [];
    const { resolve, asked } = setUp((host) => new Promise((done) => waiting.push(() => done(usual(host)))), {
      mostLookups: 2,
      timeoutMs: 20_000,
    });
    const all = Promise.all(names(3, 'slow').map(resolve));
    await until('two are asked for', () => waiting.length === 2);
    expect(asked).toHaveLength(2);
    waiting.shift()?.();
    await until('the third is asked for', () => waiting.length === 2);
    expect(new Set(asked)).toEqual(new Set(names(3, 'slow')));
    for (const answer of waiting) answer();
    expect(await all).toEqual([[four(PUBLIC)], [four(PUBLIC)], [four(PUBLIC)]]);
  });

  test('learns of a name that waited in vain, which is asked for when a thread is free', async () => {
    const waiting: (() => void)[] = [];
    const slow: Resolve = (host) => new Promise((done) => waiting.push(() => done(usual(host))));
    const { codeOf, asked } = setUp(slow, { mostLookups: 1, timeoutMs: 300 });
    expect(await Promise.all(names(2, 'slow').map(codeOf))).toEqual(['ETIMEOUT', 'DNS_BUSY']);
    const [first = '', inVain = ''] = names(2, 'slow');
    // The thread is taken until the system's lookup ends.
    expect(await codeOf(inVain)).toBe('DNS_BUSY');
    expect(asked).toEqual([first]);
    waiting.shift()?.();
    const found = codeOf(inVain);
    await until('it is asked for', () => waiting.length === 1);
    waiting.shift()?.();
    expect(await found).toBe('found');
  });

  test('one name is asked for once, however many want it', async () => {
    const { promise: allAsk, resolve: answer } = Promise.withResolvers<void>();
    const { resolve, asked } = setUp(async (host) => {
      await allAsk;
      return usual(host);
    });
    const asking = [resolve('good.example'), resolve('good.example'), resolve('good.example')];
    answer();
    await Promise.all(asking);
    expect(asked).toEqual(['good.example']);
  });
});

describe('the system', () => {
  test.each(['localhost', 'localhost.', 'app.localhost'])(
    '%s is this machine, whatever a name server says',
    async (name) => {
      const { resolve, asked } = setUp(async () => [four(PUBLIC), four('127.0.0.1')]);
      expect(await resolve(name)).toEqual([four('127.0.0.1')]);
      expect(asked).toEqual(['localhost']);
      expect(await setUp(async () => [four(PUBLIC)]).codeOf(name)).toBe('ENOTFOUND');
    },
  );

  test.each([
    ['ENOTFOUND', 'ENOTFOUND'],
    ['EAI_AGAIN', 'EAI_AGAIN'],
    ['EAI_FAIL', 'EAI_AGAIN'],
  ])('says %s: the failure is %s', async (code, expected) => {
    expect(await setUp(() => refusing(code)).codeOf('a.example')).toBe(expected);
  });
});

describe('the guarded POST', () => {
  const posterTo = async (system: Resolve) => {
    const { resolve, asked } = setUp(system);
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
    return { post, receiver, asked };
  };

  test('dials the address that was checked, and checks the next one again', async () => {
    const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.1'];
    const { post, receiver, asked } = await posterTo(async () => [four(answers.shift() ?? '')]);
    expect(await post('rebind.example')).toBe(204);
    expect(await post('rebind.example')).toBe('blocked');
    expect(await post('rebind.example')).toBe(204);
    expect(receiver.arrived.map(({ headers }) => headers.host)).toHaveLength(2);
    expect(asked).toEqual(Array(3).fill('rebind.example'));
  });

  test('refuses a name with one bad address among good ones, of either family', async () => {
    const { post, receiver } = await posterTo(async () => [four('127.0.0.1'), six('::1')]);
    expect(await post('mixed.example')).toBe('blocked');
    expect(receiver.arrived).toEqual([]);
  });

  test('reaches this machine by its name in /etc/hosts', async () => {
    const receiver = await startHttpReceiver();
    onTestFinished(receiver.close);
    const guarded = createGuardedPost({ allowHttp: true, allowNetworks: ['localhost'] });
    onTestFinished(guarded.close);
    const url = receiver.origin.replace('127.0.0.1', 'localhost');
    const { status } = await guarded.post({ url, headers: {}, body: '{}', signal: AbortSignal.timeout(20_000) });
    expect(status).toBe(204);
  });
});
