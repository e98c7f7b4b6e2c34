/** Several daemons on one Redis share the work. */
import { expect, test } from 'vitest';
import { PROTOCOLS, startWorld } from './world.ts';

test('two daemons tell everything once, and both do their share', async () => {
  const world = await startWorld();
  const daemons = [await world.start(), await world.start()];
  for (let round = 0; round < 5; round += 1) {
    for (const protocol of PROTOCOLS) world.critical(protocol, 2);
    await world.delivered();
  }
  await world.balanced();
  const shares = daemons.map((daemon) => daemon.log('delivered').length);
  expect(Math.min(...shares)).toBeGreaterThan(0);
});

test('when one of two is stopped, the other carries on', async () => {
  const world = await startWorld();
  const [one, other] = [await world.start(), await world.start()];
  for (const protocol of PROTOCOLS) world.critical(protocol, 5);
  await one.stop();
  const before = other.log('delivered').length;
  for (const protocol of PROTOCOLS) world.critical(protocol, 5);
  await world.balanced();
  expect(other.log('delivered').length).toBeGreaterThan(before);
});

test('daemons with prefixes of their own do not touch each other', async () => {
  const [mine, yours] = [await startWorld({ names: ['Vault'] }), await startWorld({ names: ['Vault'], seed: 2 })];
  await mine.start();
  await yours.start();
  mine.critical('Vault', 3);
  yours.critical('Vault', 3);
  await mine.balanced();
  await yours.balanced();
});
