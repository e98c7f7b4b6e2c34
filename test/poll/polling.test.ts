/** Which streams this daemon polls, as the catalog and the other daemons change. */
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { CatalogEntry } from '../../src/poll/catalog.ts';
import { createPolling } from '../../src/poll/polling.ts';
import { until } from '../support/until.ts';

const listOf = (...names: string[]): ReadonlyMap<string, CatalogEntry> =>
  new Map(names.map((name) => [name, { name, missed: 0 } as CatalogEntry]));

const setUp = (protocols: (service: string) => Promise<ReadonlyMap<string, CatalogEntry>>) => {
  const polled: string[] = [];
  const clock = { ahead: 0 };
  const probed: (string | undefined)[][] = [];
  const readers: Record<string, string[]> = { good: ['own'], bad: ['own'] };
  const silent: Record<string, number> = {};
  const polling = createPolling({
    services: ['good', 'bad'],
    sources: ['inspections'],
    catalog: { protocols },
    own: 'own',
    readersOf: (service) => readers[service] ?? [],
    silentSince: (service) => silent[service] ?? Infinity,
    memory: { retain: () => {}, commit: async () => {} },
    poll: async ({ protocols: [protocol = ''] }) => {
      polled.push(protocol);
      return undefined;
    },
    probe: async (service, stream) => void probed.push([service, stream?.protocols[0]]),
    onAssigned: () => {},
    onStopped: () => {},
    onError: () => {},
    ...{
      concurrency: 4,
      everyMs: () => 10,
      firstInMs: () => 0,
      gapMs: () => 0,
      togetherMs: () => 0,
      monotonic: () => performance.now() + clock.ahead,
    },
  });
  onTestFinished(() => polling.stop(100));
  return { polling, polled, probed, readers, silent, clock };
};

test('a service whose catalog cannot be read now does not keep the protocols of another from being polled', async () => {
  const { polling, polled } = setUp(async (service) => {
    if (service === 'bad') throw new Error('Redis refuses');
    return listOf('Vault');
  });
  polling.start();
  await until('Vault is polled', () => polled.includes('Vault'));
});

test('a daemon that the service does not answer, while it answers others, polls nothing of it', async () => {
  const { polling, polled, probed, readers } = setUp(async (service) => listOf(service));
  polling.start();
  await until('both are polled', () => polled.includes('good') && polled.includes('bad'));
  readers.bad = ['other'];
  await polling.look();
  polled.length = 0;
  await until('the other is polled on', () => polled.length > 5);
  expect(polled).not.toContain('bad');
  // A listing may be answered where polls are not: only a poll shows that it can have its share again.
  await until('it is probed', () => probed.length > 0);
  expect(probed).toEqual([['bad', 'bad']]);
});

test('a service of which this daemon has nothing to poll is probed: else nothing shows that it answers', async () => {
  const list = listOf('Vault');
  const { polling, polled, probed, readers, clock } = setUp(async () => list);
  const others = Array.from({ length: 100 }, (_, n) => `other ${n}`);
  readers.bad = ['own', ...others];
  polling.start();
  await until('the other service is polled', () => polled.length > 0);
  expect(probed).toEqual([]);
  clock.ahead = 15_000;
  await until('it is probed', () => probed.length > 0);
  expect(probed).toEqual([['bad', undefined]]);
});

test('where a poll failed and nothing answered since, one cheap question shows whether the service is there', async () => {
  const list = listOf('Vault');
  const { polling, polled, probed, silent, clock } = setUp(async () => list);
  polling.start();
  await until('both services are polled', () => polled.length > 1);
  silent.bad = performance.now();
  await until('it is probed', () => probed.length > 0);
  // Once for each time that it falls silent: its own polls show when it is back.
  clock.ahead = 5000;
  silent.bad = performance.now() + clock.ahead;
  await until('it is probed again', () => probed.length > 1);
  expect(probed).toEqual([
    ['bad', undefined],
    ['bad', undefined],
  ]);
});

test('as long as the same daemons live, Redis is not asked every second what is listed', async () => {
  const asked: string[] = [];
  const { polling, polled, readers } = setUp(async (service) => {
    asked.push(service);
    return listOf(service);
  });
  polling.start();
  await until('both are polled', () => polled.includes('good') && polled.includes('bad'));
  const before = asked.length;
  await sleep(1500);
  expect(asked).toHaveLength(before);
  readers.bad = ['other'];
  await until('their streams are assigned again', () => asked.length > before);
});
