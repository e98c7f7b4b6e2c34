/** What a message with a button costs Redis, and that a message without one costs nothing. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import type { Message } from '../../../src/channels/channel.ts';
import { createAttach } from '../../../src/features/acknowledgement/attach.ts';
import { createAcknowledgementStore } from '../../../src/features/acknowledgement/store.ts';
import { NO_NAMES } from '../../../src/features/names/names.ts';
import { destinationOf } from '../../support/alerts.ts';
import { makeAlert } from '../../support/numbered.ts';
import { ownRedis } from '../../support/redis-server.ts';

const callsOf = async (redis: Redis): Promise<number> => {
  const lines = (await redis.info('commandstats')).matchAll(/^cmdstat_(?!info|client)(\S+?):calls=(\d+)/gm);
  return Array.from(lines, ([, , calls]) => Number(calls)).reduce((sum, calls) => sum + calls, 0);
};

const setUp = async (address: string) => {
  const server = await ownRedis();
  onTestFinished(() => server.remove());
  const redis = new Redis(`redis://127.0.0.1:${server.port}`);
  onTestFinished(() => redis.disconnect());
  const store = createAcknowledgementStore(redis, '{test}', Date.now);
  const areAt = (to: string): boolean => !to.startsWith('https:');
  const put = (body: unknown) =>
    (body as { isFull?: boolean }).isFull ? body : { ...(body as object), hasButtons: true };
  const attach = createAttach(
    { buttons: { areAt, put, kept: (body) => body, listen: async () => {} } },
    {
      store,
      show: { message: () => {} },
      muteRules: { maxLength: 1000, never: [] },
      names: async () => NO_NAMES,
      mayMute: async () => true,
      now: Date.now,
    },
  );
  const send = async (number: number, changes: Partial<Message> = {}): Promise<void> => {
    const alerts = [makeAlert(number)];
    const message = { destination: destinationOf('slack', address), alerts, id: 'm', body: {}, isDigest: false };
    const { sent } = await attach({ ...message, ...changes }, alerts, false);
    await sent(`C1/${number}.1`);
  };
  const cost = async (...numbers: number[]): Promise<number> => {
    const before = await callsOf(redis);
    for (const number of numbers) await send(number);
    return (await callsOf(redis)) - before;
  };
  /** Puts a message about all of these alerts in the place of the first one's. */
  const grow = async (body: object, ...numbers: number[]) => {
    const about = numbers.map((number) => makeAlert(number));
    const [first = 0] = numbers;
    const message = { destination: destinationOf('slack', address), alerts: about.slice(1), id: 'm', isDigest: false };
    const given = await attach({ ...message, body }, about, true);
    await given.sent(`C1/${first}.1`);
    return given.message.body;
  };
  /** What an acknowledgement finds where the message of this alert stands. */
  const found = async (number: number) => {
    const token = await store.tokenAt(destinationOf('slack', address).id, `C1/${number}.1`);
    return token === undefined ? undefined : store.message(token);
  };
  return { redis, send, cost, grow, found };
};

test('a message with a button: six commands in three round trips, and all of it expires', async () => {
  const { redis, send, cost } = await setUp('C0000001');
  await send(0);
  expect(await cost(1, 2, 3, 4)).toBe(6 * 4);
  const keys = (await redis.keys('*')).filter((key) => !key.endsWith(':button-key'));
  expect(keys).toHaveLength(10);
  for (const key of keys) expect(await redis.ttl(key)).toBeGreaterThan(0);
});

test('a message that cannot have one costs nothing', async () => {
  const { cost } = await setUp('https://hooks.slack.example/services/T0/B0/x');
  expect(await cost(1, 2, 3)).toBe(0);
});

test('a message that has grown out of its buttons is not changed back into what it was', async () => {
  const { send, grow, found } = await setUp('C0000001');
  await send(1, { body: { text: 'finding 1' } });
  expect(await found(1)).toMatchObject({ body: { text: 'finding 1' } });
  const full = { text: 'findings 1 and 2', isFull: true };
  expect(await grow(full, 1, 2)).toBe(full);
  expect(await found(1)).toMatchObject({ alerts: [makeAlert(1).id, makeAlert(2).id] });
  expect(await found(1)).not.toHaveProperty('body');
});

test('a message that has no room for buttons from the beginning costs no more than the question', async () => {
  const { redis, send } = await setUp('C0000001');
  await send(1, { body: { isFull: true } });
  expect((await redis.keys('*')).filter((key) => !key.endsWith(':button-key'))).toEqual([]);
});
