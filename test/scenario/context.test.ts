/** What helps to decide stands in every kind's message, and a transaction that was sent is not sent twice. */
import type { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { CHANNEL_KINDS } from '../../src/alert.ts';
import type { ProtocolSeed } from '../../src/sandbox/service/model.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import type { Tree } from './config.ts';
import { startWorld, type World } from './world.ts';

const CORRELATE: Tree = { alerts: { correlate: true } };
const KINDS = [...CHANNEL_KINDS].toSorted();

/** Kinds of the messages that have `text` in them, each message once. */
const kindsWith = ({ sandbox }: World, text: string): string[] =>
  sandbox
    .received()
    .filter((message) => message.text.toLowerCase().includes(text.toLowerCase()))
    .map(({ kind }) => kind)
    .toSorted();

const everywhere = (world: World, text: string, times = 1): Promise<unknown> =>
  until(`'${text}' is everywhere`, () => kindsWith(world, text).length === times * CHANNEL_KINDS.length);

const SAFE = `0x${'5a'.repeat(20)}`;
const VAULT: ProtocolSeed = {
  name: 'Vault',
  assets: [
    {
      chainId: 1,
      address: `0x${'aa'.repeat(20)}`,
      descriptor: 'Main Vault',
      admins: [SAFE],
      privilegedMethods: ['0x8456cb59'],
      methods: { '0x8456cb59': 'pause', '0xd0e30db0': 'deposit' },
    },
  ],
  triggers: { critical: { detectionsGroup: [['mixer'], ['adminCall', 'reentrancy']], actions: ['notification'] } },
};

const detected = { status: 'detected', message: 'Seen.' };
const quiet = { status: 'notDetected', message: '' };

/** Assets are listed after the protocols. */
const assetsKnown = ({ prefix }: World, redis: Redis): Promise<unknown> =>
  until('the assets are known', async () =>
    ((await redis.hget(`${prefix}:catalog:sandbox`, 'entries')) ?? '').includes(SAFE),
  );

test('every kind says who, how, which trigger and what is new', async () => {
  const { redis } = openTestRedis();
  await redis.ping();
  const world = await startWorld({ protocols: [VAULT] });
  const { service, receivers } = world.sandbox;
  await world.start();
  await assetsKnown(world, redis);
  const detections = { adminCall: detected, reentrancy: detected, mixer: quiet };
  const called = { protocol: 'Vault', assessment: 'critical', detections, txOrigin: SAFE };
  const { _id: first } = service.insertInspection({ ...called, invokedMethodName: 'pause' });
  await world.delivered();
  const { _id: second } = service.insertInspection({
    ...called,
    detections: { adminCall: detected, mixer: quiet },
    invokedMethodName: 'deposit',
  });
  await world.delivered();

  const textsOf = (id: string): string[] =>
    world.sandbox
      .received()
      .filter(({ kind, text }) => kind !== 'webhook' && text.includes(id))
      .map(({ text }) => text.replaceAll(/\s+/g, ' '));
  expect(textsOf(first)).toHaveLength(3);
  for (const text of textsOf(first)) {
    // People read it with its checksum.
    expect(text.toLowerCase()).toContain(SAFE.toLowerCase());
    expect(text).toMatch(/From 0x5a5A…5A5A.* · an admin\b(?! of)/);
    expect(text).toMatch(/Call `?pause`? \(privileged\) on Main Vault/);
    expect(text).toMatch(/Trigger\W+group 2 of 2: adminCall, reentrancy/);
    expect(text).toMatch(/Not fired\W+mixer/);
    // The memory is a moment old, and so it says nothing.
    expect(text).not.toContain('first alert');
    expect(text).toMatch(/ UTC · inspected \+1 s · sent \+\d+ s/);
  }
  expect(textsOf(second)).toHaveLength(3);
  for (const text of textsOf(second)) {
    expect(text).toMatch(/Call `?deposit`? on Main Vault/);
    expect(text).not.toMatch(/privileged|Trigger|first alert/);
  }
  const payloads = receivers.webhook.received().map(({ text }) => JSON.parse(text));
  expect(payloads.find(({ data }) => data.inspection._id === first).data.context).toEqual({
    trigger: { groups: 2, matched: { number: 2, detectors: ['adminCall', 'reentrancy'] } },
    listedSince: expect.stringMatching(/^20/),
    adminOf: ['Main Vault'],
    privilegedOn: ['Main Vault'],
    first: { since: expect.any(String), origin: true, detectors: true },
  });
});

test('a stored notification that an inspection covers reaches nobody, any other everybody', async () => {
  const world = await startWorld({ names: ['Vault'], config: CORRELATE });
  const daemon = await world.start();
  const [told] = world.critical('Vault');
  await world.delivered();
  const hash = told?.txHash ?? '';
  const other = `0x${'0f'.repeat(32)}`;
  world.notification('Vault', `Dull echo.\nTransaction: ${hash.toUpperCase().replace('0X', '0x')}`);
  await until('it is covered', () => daemon.log('an inspection covers this notification').length > 0);
  world.notification('Vault', `Half an echo: ${hash} and ${other}`);
  world.notification('Vault', 'The weekly report is ready.');
  await everywhere(world, 'Half an echo');
  await everywhere(world, 'The weekly report is ready.');
  await daemon.idle();
  expect(kindsWith(world, 'Dull echo')).toEqual([]);
  expect(kindsWith(world, hash)).toEqual([...KINDS, ...KINDS].toSorted());
  expect(daemon.log('an inspection covers this notification')).toMatchObject([{ covered: 4, sent: 0 }]);
});

test('a notification that comes before its inspection is sent, and so is the inspection', async () => {
  const world = await startWorld({ names: ['Vault'], config: CORRELATE });
  await world.start();
  const txHash = `0x${'0e'.repeat(32)}`;
  world.notification('Vault', `Early bird: ${txHash}`);
  await everywhere(world, 'Early bird');
  world.sandbox.service.insertInspection({ protocol: 'Vault', assessment: 'critical', txHash });
  await world.balanced();
});

test('a notification that is read a moment before its inspection waits for it, and is not sent as well', async () => {
  const world = await startWorld({ names: ['Vault'], config: { ...CORRELATE, poll: { interval: '1s' } } });
  const daemon = await world.start();
  await daemon.watching();
  const txHash = `0x${'0d'.repeat(32)}`;
  world.notification('Vault', `In one breath: ${txHash}`);
  world.sandbox.service.insertInspection({ protocol: 'Vault', assessment: 'critical', txHash });
  await everywhere(world, txHash);
  await daemon.idle();
  expect(kindsWith(world, 'In one breath')).toEqual([]);
  expect(kindsWith(world, txHash)).toEqual([...KINDS].toSorted());
  expect(world.sandbox.received()).toHaveLength(4);
});
