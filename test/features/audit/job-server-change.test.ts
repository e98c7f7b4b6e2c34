/** Which Redis server answers is remembered in Redis itself: a daemon may start together with it, or end in the audit. */
import { expect, test } from 'vitest';
import { createServerChange, noteServerStop } from '../../../src/features/audit/job.ts';
import { createLocks } from '../../../src/redis/lock.ts';
import { openTestRedis } from '../../support/redis.ts';

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const audited: string[] = [];
  const failing = { times: 0 };
  const stopping = new AbortController();
  const settings = {
    prefix,
    locks: createLocks(redis, prefix),
    audit: async (service: string) => {
      audited.push(service);
      if (failing.times-- > 0) throw new Error('Redis is away again');
    },
    log: { info: () => {} },
    settledAfterMs: 1,
  };
  const look = createServerChange({ redis, ...settings });
  const check = (service = 'main') => look(service, stopping.signal);
  return { redis, settings, key: `${prefix}:server:main`, audited, failing, stopping, check };
};

test('an empty Redis is no change, and neither is the same server', async () => {
  const { redis, key, audited, check } = setUp();
  await check();
  await check();
  expect(audited).toEqual([]);
  expect(await redis.get(key)).toMatch(/^[0-9a-f]{40}$/);
});

test('after another server each service is audited, once', async () => {
  const { redis, key, audited, check } = setUp();
  await check('other');
  const present = await redis.get(key.replace('main', 'other'));
  await redis.set(key, 'the one before');
  await check();
  await check('other');
  await check();
  expect(audited).toEqual(['main']);
  expect(await redis.get(key)).toBe(present);
});

test('one that Tocsin stopped itself is no reason for an audit; the one after it is', async () => {
  const { redis, key, settings, audited, check } = setUp();
  await noteServerStop({ redis, ...settings });
  const present = await redis.get(`${settings.prefix}:server-stopped`);
  expect(present).toMatch(/^[0-9a-f]{40}$/);
  // As if the one that was stopped had been another: it is what was audited last, and now this one answers.
  await redis.mset(key, 'the one before', `${settings.prefix}:server-stopped`, 'the one before');
  await check();
  expect([audited, await redis.get(key)]).toEqual([[], present]);
  await redis.set(key, 'killed');
  await check();
  expect(audited).toEqual(['main']);
});

test('an audit that failed comes again', async () => {
  const { redis, key, audited, failing, check } = setUp();
  await redis.set(key, 'the one before');
  failing.times = 1;
  await expect(check()).rejects.toThrow('away again');
  expect(await redis.get(key)).toBe('the one before');
  await check();
  expect(audited).toEqual(['main', 'main']);
  expect(await redis.get(key)).not.toBe('the one before');
});

test.each(['before', 'in'])('where the daemon stops %s the audit, another one audits', async (when) => {
  const { redis, key, settings, audited, stopping } = setUp();
  await redis.set(key, 'the one before');
  const first = createServerChange({ redis, ...settings, audit: async () => stopping.abort() });
  if (when === 'before') stopping.abort();
  await expect(first('main', stopping.signal)).rejects.toThrow(/abort/);
  expect(await redis.get(key)).toBe('the one before');
  await createServerChange({ redis, ...settings })('main', new AbortController().signal);
  expect(audited).toEqual(['main']);
});

test('a server that may not be asked who it is never changes', async () => {
  const { redis, key, settings, audited } = setUp();
  await redis.acl('SETUSER', 'mute', 'on', '>pass', '~*', '+@all', '-info');
  const limited = redis.duplicate({ username: 'mute', password: 'pass' });
  await redis.set(key, 'the one before');
  await createServerChange({ redis: limited, ...settings })('main', new AbortController().signal);
  expect(audited).toEqual([]);
  limited.disconnect();
  await redis.acl('DELUSER', 'mute');
});
