/** `tocsin watch` beside a daemon. */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startWorld } from '../scenario/world.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';
import { runInProcess } from './in-process.ts';

test('alerts, deliveries and what operators do are printed as they happen, until it is stopped', async () => {
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['slack', 'webhook'] });
  const daemon = await world.start();
  await daemon.watching();
  const console = await openConsole(world);
  const file = join(world.dataDir, 'watch.yaml');
  await writeFile(file, world.configText);
  const stop = new AbortController();
  const lines: string[] = [];
  const watching = runInProcess(['watch', '--json', '--protocol', 'Vault'], {
    env: { ...world.environment, TOCSIN_CONFIG: file },
    signal: stop.signal,
    onWrite: (text) => lines.push(text),
  });
  await until('it watches', () => lines.length > 0);
  // The first look learns what is there already, so the first alert may be before it.
  const events = () => lines.map((line) => JSON.parse(line) as Record<string, never>);
  await until('a mute is told', async () => {
    await console.run('mute', 'add', '--protocol', 'Nothing', '--for', '1m', '--reason', 'a sign');
    return events().some(({ event }) => event === 'operator');
  });
  world.critical('Vault');
  world.critical('Bridge');
  await until('both deliveries are told', () => events().filter(({ event }) => event === 'delivered').length === 2);
  stop.abort();
  expect(await watching).toMatchObject({ code: 0, err: '' });
  const told = events().filter(({ event }) => event === 'alert');
  expect(told).toMatchObject([{ alert: { protocol: 'Vault', type: 'inspection.critical' } }]);
  expect(lines.join('')).not.toContain('Bridge');
  expect(lines.every((line) => line.endsWith('}\n'))).toBe(true);
});
