/** One item of 5 MB for 50 webhooks: it killed a daemon with a small heap at every start. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startProgram } from '../support/program.ts';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const WEBHOOKS = 50;

test('a daemon with 256 MB of heap sends what it keeps of it to every one, and says that it is a part', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'] });
  const { sandbox, addresses } = world;
  const [first] = sandbox.service.protocols().flatMap(({ channels }) => channels);
  const channels = Array.from({ length: WEBHOOKS }, (_, n) => ({ name: 'webhook', url: `${first?.url}?n=${n}` }));
  sandbox.service.replaceChannels({ protocol: 'Vault', apiKey: addresses.service.apiKey }, channels);
  const file = join(world.dataDir, 'tocsin.yaml');
  await writeFile(file, world.configText, { mode: 0o600 });
  const environment = { ...world.environment, NODE_OPTIONS: '--max-old-space-size=256' };
  const program = startProgram(['run', '--config', file], environment);
  const { webhook } = sandbox.receivers;
  // What is older than its first read is history.
  await until('it reads', () => program.log('protocols changed').length > 0);
  world.critical('Vault');
  await until('it sends', () => webhook.received().length > 0);
  const message = 'a'.repeat(5_000_000);
  sandbox.service.insertInspection({
    protocol: 'Vault',
    assessment: 'critical',
    detections: { flashLoan: { status: 'detected', message } },
  });
  const parts = () => webhook.received().filter(({ raw }) => raw.bodyText.includes('"truncated":{"bytes":5'));
  await until('all have it', () => parts().length >= WEBHOOKS, 60_000);
  expect(new Set(parts().map(({ raw }) => raw.id)).size).toBe(WEBHOOKS);
  expect(parts()).toHaveLength(WEBHOOKS);
  expect(program.log('an item is too large: only a part is sent')).toHaveLength(1);
  program.signal('SIGTERM');
  expect(await program.ended).toBe(0);
});
