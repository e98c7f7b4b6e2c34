/** A service that is half broken: what it breaks for one protocol does not touch the others. */
import { expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { SANDBOX } from './config.ts';
import { PROTOCOLS, startWorld } from './world.ts';

const [VAULT, BRIDGE, HOSTILE] = PROTOCOLS;

test.concurrent('one protocol answers 404 and one 500: the third flows, and the two catch up when they are mended', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  const { service } = world.sandbox;
  service.addFault({
    protocol: VAULT,
    endpoint: 'listInspections',
    times: Infinity,
    fault: { kind: 'status', status: 404 },
  });
  service.addFault({
    protocol: BRIDGE,
    endpoint: 'listInspections',
    times: Infinity,
    fault: { kind: 'status', status: 500 },
  });
  const daemon = await world.start();
  world.critical(VAULT, 2);
  world.critical(BRIDGE, 2);
  const told = world.critical(HOSTILE, 2);
  await until('the third is sent', () => told.every(({ txHash }) => world.reconciler.arrivalsOf(txHash).length === 4));
  await until('both outages are said', () => daemon.log('failing').length >= 2);
  expect(world.reconciler.count()).toBe(4 * told.length);
  service.clearFaults();
  await world.balanced();
});

test.concurrent('one name that the service refuses does not silence the notifications of the others', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  const { service } = world.sandbox;
  service.addFault({
    protocol: VAULT,
    endpoint: 'listNotifications',
    times: Infinity,
    fault: { kind: 'status', status: 404 },
  });
  await world.start();
  world.notification(VAULT, 'Of the refused one.');
  world.notification(BRIDGE, 'Of the second.');
  world.notification(HOSTILE, 'Of the third.');
  const arrivals = (message: string) => world.reconciler.arrivalsOf(message).length;
  await until('the others are sent', () => arrivals('Of the second.') === 4 && arrivals('Of the third.') === 4);
  expect(arrivals('Of the refused one.')).toBe(0);
  service.clearFaults();
  await world.balanced();
});

test.concurrent('a malformed item is quarantined and counted once, however often it is read; its neighbours flow', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  const { service } = world.sandbox;
  service.addFault({
    protocol: VAULT,
    endpoint: 'listInspections',
    times: Infinity,
    fault: { kind: 'malformed-item' },
  });
  const createdAt = new Date(service.now() - 600_000).toISOString();
  const ofNobody = { protocol: 'Vault of nobody', message: 'Drained.', createdAt };
  const notifications = { endpoint: 'listNotifications', times: Infinity } as const;
  service.addFault({ ...notifications, fault: { kind: 'malformed-item', item: ofNobody } });
  const daemon = await world.start();
  world.critical(VAULT, 3);
  await world.balanced();
  service.clearRequests();
  await until(
    'it is read again',
    () => service.requests().filter(({ protocols }) => protocols.includes(VAULT)).length > 3,
  );
  await world.balanced();
  for (const source of ['inspections', 'notifications'])
    expect(await daemon.metric('tocsin_items_malformed_total', { source })).toBe(1);
  expect(daemon.log('malformed item')).toHaveLength(2);
  const { problems } = await daemon.status();
  expect(problems.filter((problem) => problem.includes('could not be understood'))).toEqual([
    expect.stringMatching(/^2 /),
  ]);
});

test.concurrent.for([
  ['reset', { kind: 'reset' }],
  ['cut', { kind: 'cut' }],
  ['truncated', { kind: 'truncated' }],
  ['empty', { kind: 'empty' }],
  ['of another shape', { kind: 'wrong-shape', body: { page: 7 } }],
  ['an HTML page', { kind: 'status', status: 200, body: '<html>', contentType: 'text/html' }],
  ['limited', { kind: 'status', status: 429, retryAfter: 1 }],
] as const)('answers that are %s move no cursor', async ([, fault], { onTestFinished: onFinished }) => {
  // Nothing is read twice here: a cursor that moved too far would show.
  const poll = { startFrom: 'now', overlap: '0s', lookback: '0s' };
  const world = await startWorld({ onFinished, names: [VAULT], config: { poll } });
  const { service } = world.sandbox;
  const daemon = await world.start();
  await daemon.watching();
  service.addFault({ endpoint: 'listInspections', times: Infinity, fault });
  world.critical(VAULT, 3);
  await until('it was struck', () => service.requests().filter((request) => request.fault).length > 1);
  service.clearFaults();
  await world.balanced();
});

test.concurrent('a service with habits of its own is read all the same', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({
    onFinished,
    config: { services: [{ ...SANDBOX, pageSize: 7, arrayParams: 'comma' }] },
    quirks: {
      firstPage: 0,
      pageNumberEcho: 'missing',
      maxPageSize: 3,
      totalCounts: 'page',
      arrayParams: 'comma',
      dateFormat: 'offset',
      clockSkewMs: 90_000,
      extraFields: true,
      nullArrays: true,
      listing: 'split',
      unstableTies: true,
      pageOverlap: 1,
      shiftPages: 3,
    },
  });
  await world.start();
  for (const protocol of PROTOCOLS) {
    world.calm(protocol, 4);
    world.critical(protocol, 8);
    world.notification(protocol, `Odd news number${protocol.length}.`);
  }
  await world.balanced();
});

test.concurrent('a service that names a wait is left alone until it is over', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished });
  const { service } = world.sandbox;
  const daemon = await world.start();
  await daemon.watching();
  service.addFault({ times: Infinity, fault: { kind: 'status', status: 429, retryAfter: 3 } });
  await until('the wait is known', () => daemon.log('failing').length > 0);
  const knownAt = Date.now();
  const struck = service.requests().find(({ fault }) => fault);
  service.clearFaults();
  world.critical(VAULT);
  await world.balanced();
  const asked = service.requests().filter(({ at }) => at > knownAt);
  expect(asked.length).toBeGreaterThan(0);
  // What was on its way to the service when the wait became known may still arrive: once for each stream, five a second else.
  const meanwhile = asked.filter(({ at }) => at < (struck?.at ?? 0) + 3000).map(({ path }) => path);
  expect(meanwhile).toEqual([...new Set(meanwhile)]);
});
