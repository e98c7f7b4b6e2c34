/** A mute from the operator's chair: what fits is hidden, both ends balance, and its end reports all of it, once. */
import { expect, test } from 'vitest';
import { openConsole } from '../cli/console.ts';
import { until } from '../support/until.ts';
import { startWorld, type World } from './world.ts';

interface Mute {
  id: string;
  hid: number;
  reportedAt?: string;
}

/** As the reconciler writes them. */
const linesOf = ({ sandbox }: World, protocol: string): string[] => {
  const { channels = [] } = sandbox.service.protocols().find(({ name }) => name === protocol) ?? {};
  return channels.flatMap(({ name, contacts = [], url }) => [
    ...contacts.map((contact) => `${name} ${contact} `),
    ...(url === undefined ? [] : [`${name} ${new URL(url).pathname} `]),
  ]);
};

/** Everything received, with the links: Telegram shows a whole hash only where its link leads, or in a file. */
const received = ({ sandbox }: World) =>
  sandbox.received().map(({ kind, destination, text, raw }) => {
    const { method, source = text } = (kind === 'telegram' ? raw : {}) as { method?: string; source?: string };
    const html = method === 'sendDocument' ? text : source;
    return { kind, destination, text: String(html) };
  });

/** By kind, the messages that report a mute's end. */
const ends = (world: World) => received(world).filter(({ text }) => text.includes('A mute ended'));

const ended = async (world: World, count: number) => {
  await until('the end is reported', () => ends(world).length >= count);
  return ends(world);
};

test.concurrent('what is muted is reported when the mute ends, to the people who missed it, by one of two daemons', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault', 'Bridge'], config: { audit: { every: '200ms' } } });
  const console = await openConsole(world);
  const daemons = [await world.start(), await world.start()];
  for (const daemon of daemons) await daemon.watching();
  const mute = await console.json<Mute>('mute', 'add', '--protocol', 'Vault', '--for', '2h', '--reason', 'upgrade');
  const hidden = world.critical('Vault', 3);
  world.notification('Vault', 'Paused for the upgrade.');
  const shown = world.critical('Bridge', 2);
  world.reconciler.excuse(...linesOf(world, 'Vault'));
  await world.delivered();
  const listed = () => console.json<Mute[]>('mute', 'list', '--all');
  await until('all are hidden', async () => (await listed())[0]?.hid === 4);
  expect(world.reconciler.count()).toBe(4 * shown.length);
  expect(world.sandbox.received().filter(({ text }) => hidden.some(({ txHash }) => text.includes(txHash)))).toEqual([]);

  const [first] = hidden;
  const trace = await console.run('trace', first?._id ?? '');
  expect(trace.out).toMatch(new RegExp(`slack .*: muted, not sent[\\s\\S]*muted by ${mute.id}: upgrade`));
  expect(await console.json('audit')).toMatchObject({
    protocols: expect.arrayContaining([
      expect.objectContaining({ protocol: 'Vault', counts: expect.objectContaining({ muted: 3 }), missing: [] }),
    ]),
  });
  const status = await daemons[0]?.status();
  expect(status?.mutes).toMatchObject([{ id: mute.id, reason: 'upgrade', hid: 4 }]);
  const counts = await Promise.all(daemons.map((daemon) => daemon.metric('tocsin_muted_total')));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(16);

  expect(await console.run('mute', 'end', mute.id)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/ended; a daemon will report the alerts that it hid: 4 so far\n$/),
  });
  const told = await ended(world, 3);
  expect(told.map(({ kind }) => kind).toSorted()).toEqual(['email', 'slack', 'telegram']);
  for (const { text } of told) {
    for (const { txHash } of hidden) expect(text).toContain(txHash);
    expect(text).toMatch(/4 alerts were not sent[\s\S]*Reason: upgrade/);
    for (const { txHash } of shown) expect(text).not.toContain(txHash);
  }

  // What comes now is sent, and nothing is sent twice.
  const [after] = world.critical('Vault');
  await until('it is sent again', () => world.reconciler.arrivalsOf(after?.txHash ?? '').length === 4);
  await until('the mute is done with', async () => (await listed())[0]?.reportedAt !== undefined);
  expect(ends(world)).toHaveLength(3);
  for (const daemon of daemons) expect(await daemon.metric('tocsin_audit_differences_total')).toBe(0);
  expect(await console.run('mute', 'list')).toMatchObject({ code: 0, out: 'nothing is muted\n' });
});

test.concurrent('a long list comes whole, in parts, and leaves room for those of others', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({ onFinished, names: ['Vault', 'Bridge'], kinds: ['email', 'telegram', 'slack'] });
  const console = await openConsole(world);
  const daemons = [await world.start(), await world.start()];
  for (const daemon of daemons) await daemon.watching();
  const mute = await console.json<Mute>('mute', 'add', '--protocol', '*', '--for', '2h', '--reason', 'load test');
  const storm = world.critical('Vault', 450);
  const few = world.critical('Bridge', 2);
  for (const name of ['Vault', 'Bridge']) world.reconciler.excuse(...linesOf(world, name));
  await until('all are hidden', async () => (await console.json<Mute[]>('mute', 'list'))[0]?.hid === 452);
  await console.run('mute', 'end', mute.id);
  const all = [...storm, ...few].map(({ txHash }) => txHash);
  /** What each destination got, each hash as often as it came. */
  const told = () =>
    [...Map.groupBy(received(world), ({ kind, destination }) => `${kind} ${destination}`)].map(([, messages]) =>
      messages
        .flatMap(({ text }) => text.match(/0x[0-9a-f]{64}/g) ?? [])
        .filter((hash) => all.includes(hash))
        .toSorted(),
    );
  await until('all are reported', () => told().flat().length >= 3 * all.length);
  for (const daemon of daemons) await daemon.idle();
  const hashesOf = (items: typeof storm) => items.map(({ txHash }) => txHash).toSorted();
  expect(told().toSorted((a, b) => a.length - b.length)).toEqual([
    ...Array.from({ length: 3 }, () => hashesOf(few)),
    ...Array.from({ length: 3 }, () => hashesOf(storm)),
  ]);
});

test('a mute that ran out while no daemon was there is reported at the next start', async () => {
  const world = await startWorld({ names: ['Vault'], kinds: ['slack'] });
  const console = await openConsole(world);
  const first = await world.start();
  await first.watching();
  await console.run('mute', 'add', '--destination', 'C0SANDBOX01', '--for', '3s', '--reason', 'noise');
  const [hidden] = world.critical('Vault');
  world.reconciler.excuse('slack');
  await until('it is hidden', async () => (await console.json<Mute[]>('mute', 'list', '--all'))[0]?.hid === 1);
  await first.stop();
  await until('its time is over', async () => (await console.json<Mute[]>('mute', 'list')).length === 0);
  expect(ends(world)).toEqual([]);

  const second = await world.start();
  const [told] = await ended(world, 1);
  expect(told?.text).toContain(hidden?.txHash);
  await second.idle();
  expect(ends(world)).toHaveLength(1);
});

test.concurrent('a window of the config mutes by the clock, and never what the floor names', async ({
  onTestFinished: onFinished,
}) => {
  const day = { days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '00:00', to: '24:00', reason: 'always' };
  const world = await startWorld({
    onFinished,
    names: ['Vault', 'Bridge'],
    kinds: ['webhook'],
    config: { mutes: { never: ['floor*'], windows: [{ ...day, protocols: ['Vault'], timeZone: 'Pacific/Auckland' }] } },
  });
  const { service } = world.sandbox;
  const detections = { floorPrice: { status: 'detected', message: 'fell' } };
  const loud = service.insertInspection({ protocol: 'Vault', assessment: 'critical', detections });
  const [quiet] = world.critical('Vault');
  const [other] = world.critical('Bridge');
  const console = await openConsole(world);
  const forecast = await console.json<{ mutes: { reason: string; alerts: number }[] }>('backtest', '--since', '1h');
  expect(forecast.mutes).toEqual([{ reason: 'always', alerts: 1 }]);
  await world.start();
  await until('two arrive', () => world.reconciler.count() === 2);
  expect(world.reconciler.arrivalsOf(loud.txHash)).toHaveLength(1);
  expect(world.reconciler.arrivalsOf(other?.txHash ?? '')).toHaveLength(1);
  await until('one is hidden', async () => (await console.json<Mute[]>('mute', 'list'))[0]?.hid === 1);
  expect(world.reconciler.arrivalsOf(quiet?.txHash ?? '')).toEqual([]);
  expect(await console.json('trace', quiet?._id ?? '')).toMatchObject([{ deliveries: [{ state: 'muted' }] }]);
});

test.concurrent('a follow-up of what is muted is muted as well, and reported with it', async ({
  onTestFinished: onFinished,
}) => {
  const world = await startWorld({
    onFinished,
    names: ['Vault'],
    kinds: ['slack', 'webhook'],
    config: {
      alerts: { secondLook: ['1s', '2s', '3s'] },
      poll: { lookback: '500ms', overlap: '200ms', sweepEvery: '200ms', startFrom: 'now' },
    },
  });
  const console = await openConsole(world);
  const daemon = await world.start();
  await daemon.watching();
  const [told] = world.critical('Vault');
  await world.delivered();
  const mute = await console.json<Mute>('mute', 'add', '--detector', 'drastic*', '--for', '1h', '--reason', 'noise');
  const [hidden] = world.critical('Vault');
  world.reconciler.excuse(...linesOf(world, 'Vault'));
  const hid = async () => (await console.json<Mute[]>('mute', 'list', '--all'))[0]?.hid;
  await until('it is hidden', async () => (await hid()) === 1);
  for (const one of [told, hidden]) {
    world.sandbox.service.changeInspection(one?._id ?? '', { assessment: 'suspecious' });
  }
  const about = (hash = '') => world.sandbox.received().filter(({ text }) => text.includes(hash));
  // Detectors do not hide a follow-up of an alert that was sent.
  await until('those who had the alert hear of it', () => about(told?.txHash).length === 4);
  await until('who was not does not, yet', async () => (await hid()) === 2);
  expect(about(hidden?.txHash)).toEqual([]);

  await console.run('mute', 'end', mute.id);
  const [end] = await ended(world, 1);
  expect(end?.text).toMatch(/2 alerts were not sent[\s\S]*Reason: noise/);
  expect(end?.text.split(hidden?.txHash ?? '-').length).toBeGreaterThan(2);
  expect(end?.text).toContain('Vault: follow-up, downgraded');
  expect(ends(world).map(({ kind }) => kind)).toEqual(['slack']);
});

test.concurrent('what is replayed is not muted', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({ onFinished, names: ['Vault'], kinds: ['webhook'] });
  const console = await openConsole(world);
  await world.start();
  await console.run('mute', 'add', '--protocol', '*', '--for', '1h', '--reason', 'noise');
  const [hidden] = world.critical('Vault');
  await until('it is hidden', async () => (await console.json<Mute[]>('mute', 'list'))[0]?.hid === 1);
  expect(world.reconciler.count()).toBe(0);
  await console.run('replay', '--since', '30m', '--yes');
  await until('it is sent', () => world.reconciler.arrivalsOf(hidden?.txHash ?? '').length === 1);
  const traced = async (): Promise<string> => (await console.run('trace', hidden?._id ?? '')).out;
  await until('that is recorded', async () => (await traced()).includes('delivered, as a replay'));
  expect(await traced()).toMatch(/muted by mute-\w+: noise\n[\s\S]*replayed by hand\n[\s\S]*delivered, as a replay/);
});
