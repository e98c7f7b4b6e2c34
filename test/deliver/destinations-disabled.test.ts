import { expect, test } from 'vitest';
import { createDisabled } from '../../src/deliver/destinations.ts';
import { destinationOf } from '../support/alerts.ts';
import { openTestRedis } from '../support/redis.ts';

const GONE = destinationOf('webhook', 'https://hooks.example/s3cr3t', 'hooks.example (ab12)');
const OTHER = destinationOf('webhook', 'https://hooks.example/other');
const AT = '2026-11-20T12:00:00.000Z';

test('disabling is remembered until somebody enables it', async () => {
  const { redis, prefix } = openTestRedis();
  const disabled = createDisabled(redis, prefix);
  expect(await disabled.find(GONE.id)).toBeUndefined();
  expect(await disabled.enable(GONE.id)).toBe(false);
  await disabled.disable(GONE, AT, 'hooks.example (ab12) answered 410');
  await disabled.disable(GONE, '2026-11-20T12:30:00.000Z', 'again');
  const { id, kind, label } = GONE;
  const found = { id, kind, label, at: AT, message: 'hooks.example (ab12) answered 410' };
  expect(await disabled.find(GONE.id)).toEqual(found);
  expect(await disabled.list()).toEqual([found]);
  expect(await disabled.find(OTHER.id)).toBeUndefined();
  expect(await disabled.enable(GONE.id)).toBe(true);
  expect(await disabled.list()).toEqual([]);
});
