/** Mutes from the operator's chair: what they have to say, how long they may last, and how they are seen. */
import { expect, type onTestFinished, test } from 'vitest';
import { startWorld } from '../scenario/world.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

interface Mute {
  id: string;
  protocols: string[];
  from: string;
  until: string;
  hid: number;
  isActive?: boolean;
  endedAt?: string;
}

const start = async (onFinished: typeof onTestFinished, mutes: object = {}) => {
  const world = await startWorld({
    onFinished,
    names: ['Vault', 'Bridge'],
    kinds: ['slack', 'webhook'],
    config: { mutes },
  });
  const daemon = await world.start();
  await daemon.watching();
  return { world, daemon, console: await openConsole(world) };
};

test.concurrent('are added, listed and ended', async ({ onTestFinished: onFinished }) => {
  const { console, daemon } = await start(onFinished);
  const before = Date.now();
  const added = await console.json<Mute>(
    ...['mute', 'add', '--protocol', 'Vault', '--detector', 'flash*', '--destination', 'C0SANDBOX01'],
    ...['--for', '90m', '--reason', 'upgrade of the vault', '--author', 'alice'],
  );
  expect(added).toMatchObject({
    id: expect.stringMatching(/^mute-[0-9a-f]{8}$/),
    protocols: ['Vault'],
    detectors: ['flash*'],
    destinations: ['C0SANDBOX01'],
    reason: 'upgrade of the vault',
    author: 'alice',
  });
  expect(Date.parse(added.until) - Date.parse(added.from)).toBe(90 * 60_000);
  expect(Date.parse(added.from)).toBeGreaterThanOrEqual(before);
  const other = await console.run('mute', 'add', '--protocol', 'B*', '--for', '1h', '--reason', 'noise');
  expect(other.out).toMatch(/^mute-[0-9a-f]{8}: protocol B\*; until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\n$/);
  expect(other.err).toBe('');

  const { out } = await console.run('mute', 'list');
  const [head = '', first = '', why = '', second = ''] = out.split('\n');
  expect(head).toMatch(/^MUTE +END +BY +HIDES +WHAT$/);
  expect(first).toMatch(/^mute-\S+ +until .* UTC +\S+@\S+ +0 +protocol B\*$/);
  expect(why).toBe('    noise');
  expect(second).toContain('protocol Vault; detector flash*; destination C0SANDBOX01');
  expect(await console.json<Mute[]>('mute', 'list')).toMatchObject([{ isActive: true }, { id: added.id, hid: 0 }]);
  expect((await console.run('status')).out).toMatch(/\nMutes \(2\)\n/);
  expect((await daemon.ask('/')).text).toContain(added.id);

  const extended = await console.json<Mute>('mute', 'extend', added.id, '--for', '2h');
  expect(Date.parse(extended.until) - Date.parse(added.until)).toBe(2 * 3_600_000);
  expect((await console.json<Mute[]>('mute', 'list')).find(({ id }) => id === added.id)?.until).toBe(extended.until);
  expect(await console.run('mute', 'extend', added.id, '--for', '24h')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/it may last at most 1d from now, as mutes\.maxLength says/),
  });
  expect(await console.run('mute', 'extend', 'mute-nothing', '--for', '1h')).toMatchObject({ code: 1 });

  expect(await console.json<Mute>('mute', 'end', added.id)).toMatchObject({ id: added.id });
  expect(await console.json<Mute[]>('mute', 'list')).toHaveLength(1);
  expect((await console.run('mute', 'list', '--all')).out).toMatch(new RegExp(`${added.id} +ended .* UTC, by hand`));
  expect(await console.run('mute', 'end', added.id)).toMatchObject({
    code: 1,
    err: expect.stringContaining(`no mute '${added.id}' holds`),
  });
  await until('its end is in the log', () =>
    daemon.log('a mute has ended that hid nothing').some(({ mute }) => mute === added.id),
  );
});

test.concurrent('say what is wrong with them', async ({ onTestFinished: onFinished }) => {
  const { console } = await start(onFinished, { maxLength: '4h', never: ['reentrancy', 'price*'] });
  const add = async (...args: string[]) => {
    const { code, err } = await console.run('mute', 'add', ...args);
    return `${code} ${err}`;
  };
  const why = ['--reason', 'why'];
  const vault = ['--protocol', 'Vault'];
  expect(await add('--for', '1h', ...why)).toContain('1 tocsin: say what to mute');
  expect(await add(...vault, ...why)).toMatch(/^1 .*--for/);
  expect(await add(...vault, '--for', '1h')).toMatch(/^1 .*--reason/);
  expect(await add(...vault, '--for', '1h', '--reason', ' ')).toContain('1 tocsin: --reason must say something');
  expect(await add('--protocol', '', '--for', '1h', ...why)).toContain('1 tocsin: an option is empty');
  for (const wrong of ['soon', '0s', '1.5h']) {
    expect(await add(...vault, '--for', wrong, ...why)).toContain(`1 tocsin: --for must be a duration like 30m or 2h`);
  }
  expect(await add(...vault, '--for', '241m', ...why)).toContain(
    "1 tocsin: --for must be at most 4h, as mutes.maxLength says (got '241m')",
  );
  for (const detector of ['reentrancy', 'priceOracle']) {
    expect(await add('--detector', detector, '--for', '1h', ...why)).toContain(
      `1 tocsin: --detector: mutes.never says that ${detector} is never muted`,
    );
  }
  expect(await console.run('mute', 'list')).toMatchObject({ out: 'nothing is muted\n' });
  expect(await add('--detector', '*', '--for', '4h', ...why)).toBe('0 ');
  // What fits nothing yet is taken, with a word of doubt.
  expect(await add('--protocol', 'Vualt', '--destination', 'C0OTHER', '--for', '1h', ...why)).toBe(
    "0 tocsin: no protocol is known that fits 'Vualt', so far\ntocsin: no destination is known by 'C0OTHER', so far\n",
  );
});

test.concurrent('of the config are listed while they are open, and can be ended', async ({
  onTestFinished: onFinished,
}) => {
  const day = { from: '00:00', to: '24:00', reason: 'migration' };
  const { console, world } = await start(onFinished, { windows: [{ ...day, destinations: ['C0SANDBOX01'] }] });
  const [window] = await console.json<Mute[]>('mute', 'list');
  expect(window?.id).toMatch(/^window-/);
  world.reconciler.excuse('slack');
  world.critical('Vault');
  await world.delivered();
  await until('it hides one', async () => (await console.json<Mute[]>('mute', 'list'))[0]?.hid === 1);
  expect((await console.run('mute', 'end', window?.id ?? '')).out).toContain(
    'will report the alerts that it hid: 1 so far',
  );
  const [after] = world.critical('Vault');
  await until('it holds no more', () => world.reconciler.arrivalsOf(after?.txHash ?? '').length === 2);
  expect(await console.json<Mute[]>('mute', 'list')).toEqual([]);
});

test.concurrent('without Redis there are none to speak of', async ({ onTestFinished: onFinished }) => {
  const world = await startWorld({ onFinished, names: ['Vault'], kinds: ['webhook'], redisUrl: 'redis://127.0.0.1:1' });
  const console = await openConsole(world);
  for (const args of [
    ['mute', 'add', '--protocol', '*', '--for', '1h', '--reason', 'why'],
    ['destinations', 'approve', '--all'],
  ]) {
    expect(await console.run(...args)).toMatchObject({ code: 75, out: '' });
  }
});
