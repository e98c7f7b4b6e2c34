/** Several daemons on one Redis share the work. */
import { expect, test } from 'vitest';
import { PROTOCOLS, startWorld } from './world.ts';

test.concurrent('two daemons send everything once, and both do their share', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({ onFinished });
  const daemons = [await world.start(), await world.start()];
  for (let round = 0; round < 5; round += 1) {
    for (const protocol of PROTOCOLS) world.critical(protocol, 2);
    await world.delivered();
  }
  await world.balanced();
  for (const daemon of daemons) await daemon.idle();
  const shares = daemons.map((daemon) => daemon.log('delivered').length);
  expect(Math.min(...shares)).toBeGreaterThan(0);
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(world.sandbox.received().length);
});

test.concurrent('when one of two is stopped, the other carries on', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({ onFinished });
  const [one, other] = [await world.start(), await world.start()];
  for (const protocol of PROTOCOLS) world.critical(protocol, 5);
  await one.stop();
  const before = other.log('delivered').length;
  for (const protocol of PROTOCOLS) world.critical(protocol, 5);
  await world.balanced();
  expect(other.log('delivered').length).toBeGreaterThan(before);
});

test.concurrent('daemons with prefixes of their own do not touch each other', async ({
  onTestFinished: onFinished,
}) => {
  const [mine, yours] = [
    await startWorld({ onFinished, names: ['Vault'] }),
    await startWorld({ onFinished, names: ['Vault'], seed: 2 }),
  ];
  await mine.start();
  await yours.start();
  mine.critical('Vault', 3);
  yours.critical('Vault', 3);
  await mine.balanced();
  await yours.balanced();
});
