/** A daemon that is killed with SIGKILL in the middle of a backlog. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startDaemonProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const BACKLOG = 2000;
/** Webhooks in flight at once. */
const CONCURRENCY = 20;

test('kill -9 in the middle of a backlog: nothing is lost, and doubles are few and of one identity', async () => {
  const names = ['Vault', 'Bridge', 'Harbour', 'Market'];
  const world = await startWorld({
    names,
    config: { channels: { webhook: { concurrency: CONCURRENCY } } },
    kinds: ['webhook'],
  });
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText);
  const { webhook } = world.sandbox.receivers;
  const endSlowness = webhook.script.always({ kind: 'slow', durationMs: 20 });
  for (const name of names) world.critical(name, BACKLOG / names.length);

  const first = await startDaemonProgram(file, world.environment);
  await until('a quarter has arrived', () => webhook.received().length >= BACKLOG / 4);
  first.signal('SIGKILL');
  await first.ended;
  expect(webhook.received().length).toBeLessThan(BACKLOG);

  endSlowness();
  await startDaemonProgram(file, world.environment);
  await world.delivered(60_000);
  for (const name of names) world.critical(name);
  await world.delivered();

  const { missing, doubled, unexpected } = world.books.balance();
  expect({ missing, unexpected }).toEqual({ missing: [], unexpected: [] });
  expect(doubled.length).toBeLessThanOrEqual(CONCURRENCY);
  const doubles = [...webhook.occurrences().values()].filter((times) => times > 1);
  expect(doubles.length).toBe(doubled.length);
  expect(webhook.received().length).toBe(BACKLOG + names.length + doubled.length);
}, 120_000);
