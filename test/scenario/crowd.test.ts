/** Several daemons on one Redis share the work. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { startDaemon } from './daemons.ts';
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

/** Where a state file says that reading would go on, by track. */
const positionsIn = async (directory: string): Promise<number[]> => {
  const text = await readFile(join(directory, 'state.json'), 'utf8').catch(() => '{"cursors":{}}');
  const { cursors } = JSON.parse(text) as { cursors: Record<string, { position: number }> };
  return Object.entries(cursors).flatMap(([track, { position }]) => (track.includes('inspections') ? position : []));
};

test.concurrent('the state file of each daemon follows all cursors, also those that another one moves', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  const places = ['one', 'other'].map((name) => join(world.dataDir, name));
  const daemons = await Promise.all(places.map((dataDir) => startDaemon({ ...world.config, dataDir })));
  onFinished(async () => void (await Promise.all(daemons.map((daemon) => daemon.stop()))));
  const polls = () => daemons.map((daemon) => daemon.log('polled').map(({ subject }) => subject));
  await until('each polls its own share', async () => {
    const before = polls().map(({ length }) => length);
    await until('all are polled', () => polls().flat().length >= (before[0] ?? 0) + (before[1] ?? 0) + 10);
    const [one = [], other = []] = polls().map((all, index) => all.slice(before[index]));
    return one.every((subject) => !other.includes(subject));
  });
  const written = PROTOCOLS.flatMap((protocol) => world.critical(protocol));
  await world.delivered();
  const last = Math.min(...written.map(({ createdAt, txTimestamp = createdAt }) => Math.min(createdAt, txTimestamp)));
  for (const place of places) {
    await until(`all of it is in ${place}`, async () => {
      const positions = await positionsIn(place);
      return positions.length === PROTOCOLS.length && positions.every((position) => position >= last);
    });
  }
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
