/** History forwarded again: to the same places under the same identities, and plainly not news. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startWorld, type World } from '../scenario/world.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

const HOUR_MS = 3_600_000;

interface Payload {
  type: string;
  data: { replay: boolean; inspection?: { _id: string }; context?: { first?: { since: string; origin: boolean } } };
}

const webhooks = ({ sandbox }: World) =>
  sandbox.receivers.webhook.received().map(({ destination, raw: { id, bodyText } }) => {
    const { type, data } = JSON.parse(bodyText) as Payload;
    const { replay, inspection, context } = data;
    return { id, destination, type, replay, item: inspection?._id, context };
  });

const insertOld = ({ sandbox: { service } }: World, protocol: string, hours: number) =>
  service.insertInspection({ protocol, assessment: 'critical', createdAt: service.now() - hours * HOUR_MS });

test('reaches everybody again under the same ids, marked as a replay', async () => {
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['webhook', 'slack'] });
  world.calm('Vault', 4);
  world.critical('Vault', 2);
  world.critical('Bridge', 1);
  world.notification('Bridge', 'The weekly report is ready.');
  const daemon = await world.start();
  await world.delivered();
  await daemon.idle();
  const before = webhooks(world);
  expect(before.map(({ replay }) => replay)).toEqual([false, false, false, false]);

  const console = await openConsole(world);
  const unasked = await console.run('replay', '--since', '30m');
  const question = 'this sends 4 alerts in 8 deliveries to 4 destinations again: say --yes to do it';
  expect(unasked).toMatchObject({ code: 1, out: '', err: `tocsin: ${question}` });
  const { code, out, err } = await console.run('replay', '--since', '30m', '--yes');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toBe('4 alerts: 8 deliveries queued as replays\n');
  await until('everything has come twice', () => world.reconciler.count() === 16);
  const after = webhooks(world).slice(before.length);
  expect(after.map(({ replay }) => replay)).toEqual([true, true, true, true]);
  expect(new Set(after.map(({ id }) => id))).toEqual(new Set(before.map(({ id }) => id)));
  for (const { item, context } of after.filter((each) => each.item !== undefined)) {
    const { since: _since, ...first } = before.find((each) => each.item === item)?.context?.first ?? {};
    expect(first).toHaveProperty('origin', true);
    expect(context?.first).toMatchObject(first);
  }
  const slack = world.sandbox.receivers.slack.received().map(({ text }) => text);
  expect(slack.filter((text) => text.includes('Old alert'))).toHaveLength(4);

  const { item = '' } = before.find((each) => each.item !== undefined) ?? {};
  await daemon.idle();
  const trace = await console.run('trace', item);
  expect(trace.out).toMatch(/delivered, \d+ ms[\s\S]*replayed by hand[\s\S]*delivered, as a replay/);
  expect(await daemon.metric('tocsin_alert_latency_seconds_count', { kind: 'webhook' })).toBe(4);
});

test('goes to the destination that is named, of the protocol and the time that are named', async () => {
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['webhook'] });
  const [wanted] = [insertOld(world, 'Vault', 5), insertOld(world, 'Vault', 8), insertOld(world, 'Vault', 2)];
  insertOld(world, 'Bridge', 5);
  world.reconciler.excuse('webhook');
  await world.start();
  const console = await openConsole(world);
  const url = `${world.addresses.webhook.url}/elsewhere`;
  const { code } = await console.run(
    ...['replay', '--since', '6h', '--until', '4h', '--protocol', 'Vault', '--to', `webhook:${url}`],
  );
  expect(code).toBe(0);
  await until('it arrives', () => webhooks(world).length > 0);
  world.critical('Bridge');
  await until('a later one arrives', () => webhooks(world).length > 1);
  expect(webhooks(world)[0]).toMatchObject({ destination: '/elsewhere', item: wanted?._id, replay: true });
  expect(webhooks(world)).toHaveLength(2);
});

test('a dry run says what would go where, asks no Redis, and sends nothing', async () => {
  const world = await startWorld({ redisUrl: 'redis://127.0.0.1:1' });
  const [inspection] = world.critical('Vault', 2);
  world.notification('Bridge', 'hello');
  const console = await openConsole(world);
  const { code, out } = await console.run('replay', '--since', '30m', '--dry-run');
  expect(code).toBe(0);
  expect(out).toContain(inspection?.txHash);
  expect(out).toMatch(/\nslack +\S+ +2\n/);
  expect(out).toMatch(/\nslack +\S+ +1\n/);
  expect(out).toContain('A dry run: nothing was sent.');
  expect(out).not.toContain('/hooks/');
  const { items } = await console.json<{ items: { itemId: string; destinations: { kind: string }[] }[] }>(
    ...['replay', '--since', '30m', '--dry-run'],
  );
  expect(items.map(({ destinations }) => destinations.length)).toEqual([4, 4, 4]);
  expect(JSON.stringify(items)).not.toContain('/hooks/');
  expect(world.reconciler.count()).toBe(0);
});

test('waits in the queue for a daemon, and does not repeat what is on its way', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'] });
  const daemon = await world.start();
  world.critical('Vault', 2);
  await world.delivered();
  await daemon.stop();
  const console = await openConsole(world);
  const first = await console.run('replay', '--since', '30m');
  expect(first).toMatchObject({ code: 0, err: expect.stringContaining('no daemon sends webhook at present') });
  expect((await console.run('replay', '--since', '30m')).out).toBe(
    '2 alerts: 0 deliveries queued as replays; 2 were waiting already and are not sent twice\n',
  );
  await world.start();
  await until('the replays arrive', () => webhooks(world).length === 4);
  world.critical('Vault');
  await until('a new one arrives', () => webhooks(world).length === 5);
  expect(webhooks(world).filter(({ replay }) => replay)).toHaveLength(2);
});

test('what had died is sent, and its letter taken away', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'] });
  const mend = world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 410 });
  world.critical('Vault');
  await world.start();
  const console = await openConsole(world);
  const dead = () => console.json<object[]>('dead', 'list');
  await until('it is dead', async () => (await dead()).length === 1);
  mend();
  expect(await console.json('replay', '--since', '30m')).toMatchObject({ alerts: 1, sent: 1, waiting: 0 });
  await world.delivered();
  expect(await dead()).toEqual([]);
});

test('says what cannot be read, and forwards the rest', async () => {
  const world = await startWorld({ kinds: ['webhook'], names: ['Vault', 'Bridge'] });
  const [vault] = world.critical('Vault');
  world.critical('Bridge');
  const gone = { kind: 'status', status: 404 } as const;
  world.sandbox.service.addFault({ endpoint: 'listInspections', protocol: 'Bridge', fault: gone, times: Infinity });
  const console = await openConsole(world);
  const { code, out, err } = await console.run('replay', '--since', '30m', '--dry-run');
  expect(code).toBe(1);
  expect(out).toContain(vault?.txHash);
  expect(err).toMatch(/inspections of “Bridge” \(service sandbox\) could not be read: .*404/);
});

test('cut short, says what was queued before', async () => {
  const world = await startWorld({
    names: ['Vault', 'Bridge'],
    kinds: ['webhook'],
    config: { poll: { concurrency: 1 } },
  });
  const [old] = [insertOld(world, 'Vault', 3), insertOld(world, 'Vault', 3)];
  await world.start();
  const fault = { kind: 'hang' } as const;
  world.sandbox.service.addFault({ endpoint: 'listInspections', protocol: 'Bridge', fault, times: Infinity });
  const console = await openConsole(world);
  const ended = console.run('replay', '--since', '4h', '--yes');
  await until('the first protocol is queued', () => world.reconciler.arrivalsOf(old?.txHash ?? '').length > 0);
  console.interrupt();
  const { code, err } = await ended;
  expect(code).toBe(75);
  expect(err).toContain('cut short; 2 deliveries were queued before');
  expect(err).not.toContain('    at ');
  world.reconciler.excuse('webhook');
});

test('names the failure that ended it, not those that it caused', async () => {
  const world = await startWorld({ names: ['Vault', 'Bridge'], kinds: ['webhook'], redisUrl: 'redis://127.0.0.1:1' });
  const { service } = world.sandbox;
  service.addFault({ endpoint: 'listInspections', protocol: 'Vault', fault: { kind: 'hang' }, times: Infinity });
  const fault = { kind: 'status', status: 503 } as const;
  service.addFault({ endpoint: 'listInspections', protocol: 'Bridge', fault, times: Infinity });
  const console = await openConsole(world);
  const { code, err } = await console.run('backtest', '--since', '4h');
  expect(code).toBe(75);
  expect(err).toMatch(/^tocsin: .*503/);
});

test('ends as the contract says when there is nothing, nobody, or no way', async () => {
  const world = await startWorld({
    protocols: [{ name: 'Vault' }, { name: 'Silent', channels: [] }],
    names: [],
    kinds: ['webhook'],
    redisUrl: 'redis://127.0.0.1:1',
  });
  const console = await openConsole(world);
  const replay = (...args: string[]) => console.run('replay', ...args);
  const mistake = (message: string) => ({ code: 1, err: expect.stringContaining(message) });
  expect(await replay('--since', '1h', '--dry-run')).toMatchObject(mistake('nothing to forward'));
  world.critical('Silent');
  // What is of the very millisecond in which the command asks is not of the past yet.
  await delay(2);
  expect(await replay('--since', '1h', '--dry-run')).toMatchObject(mistake('1 alert left out: no destination'));
  expect(await replay('--since', '1h', '--protocol', 'Nothing')).toMatchObject(mistake("a protocol 'Nothing'"));
  expect(await replay('--since', '1h', '--until', '2h')).toMatchObject(mistake('--since has to lie before'));
  expect(await replay('--since', '1h', '--to', 'pager:1')).toMatchObject(mistake('KIND:ADDRESS'));
  expect(await replay('--since', '1h', '--to', 'slack:C0SANDBOX01')).toMatchObject(mistake("kind 'slack'"));
  expect(await replay('--since', '1h', '--to', 'webhook:nowhere')).toMatchObject(mistake('--to: '));
  expect(await replay('--until', '1h')).toMatchObject(mistake('--since'));
  world.critical('Vault');
  expect(await replay('--since', '1h')).toMatchObject({ code: 75, err: expect.stringContaining('Redis') });
  await world.sandbox.service.stop();
  expect(await replay('--since', '1h', '--dry-run')).toMatchObject({ code: 75 });
});
