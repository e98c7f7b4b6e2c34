/** `tocsin test` beside a running daemon: what keeps alerts from where the sample went, and a sample that does not arrive. */
import { expect, test, vi } from 'vitest';
import { startWorld, type WorldOptions } from '../scenario/world.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

vi.setConfig({ testTimeout: 60_000 });

const FALLBACK = { after: '1s', channels: [{ name: 'email', contacts: ['oncall@example.com'] }] };

const start = async (config: WorldOptions['config'] = {}) => {
  const world = await startWorld({ names: ['Vault'], config: { fallback: FALLBACK, ...config } });
  const daemon = await world.start();
  await daemon.watching();
  return { world, console: await openConsole(world) };
};

test('says what is held or muted where the sample was delivered', async () => {
  const { console } = await start({ destinations: { gate: true, allow: ['telegram:*'] } });
  const linesOf = async () => (await console.run('test', '--protocol', 'Vault')).out.trimEnd().split('\n');
  const held = (await linesOf()).filter((line) =>
    /: delivered in \d+ ms.*; but alerts for it are held: not approved \(tocsin destinations approve \w+-\w+\)$/.test(
      line,
    ),
  );
  expect(held.map((line) => line.split(' ')[0]).toSorted()).toEqual(['email', 'slack', 'webhook']);

  await console.run('destinations', 'approve', '--all');
  expect((await linesOf()).filter((line) => line.includes('but'))).toEqual([]);

  await console.run('mute', 'add', '--protocol', 'Vault', '--detector', 'flash', '--for', '1h', '--reason', 'a part');
  expect((await linesOf()).filter((line) => line.includes('but'))).toEqual([]);
  await console.run('mute', 'add', '--protocol', 'Vault', '--for', '1h', '--reason', 'an upgrade');
  const muted = await linesOf();
  expect(muted).toHaveLength(4);
  for (const line of muted) {
    expect(line).toMatch(/: delivered in .*; but alerts for it are muted until .* UTC: an upgrade \(mute-\w+\)$/);
  }
  const printed = await console.json<{ state: string; withheld?: string }[]>('test', '--protocol', 'Vault');
  expect(printed).toHaveLength(4);
  for (const { withheld } of printed) expect(withheld).toMatch(/^alerts for it are muted until .* \(mute-\w+\)$/);
});

test('one that does not arrive opens no circuit, and the command says where to find out why', async () => {
  const { world, console } = await start();
  const to = 'http://127.0.0.1:9/nobody';
  const { code, out } = await console.run('test', '--channel', 'webhook', '--to', to, '--timeout', '1s');
  expect(code).toBe(75);
  const [, id = ''] =
    /^webhook 127\.0\.0\.1:9\/\S+: waiting: .*refuses.*\nthe daemon keeps trying: tocsin trace (\w+)\n$/.exec(out) ??
    [];
  await until(
    'it was tried some more',
    async () => {
      const [item] = await console.json<{ deliveries: { attempts: unknown[] }[] }[]>('trace', id);
      return (item?.deliveries[0]?.attempts.length ?? 0) > 4;
    },
    50_000,
  );
  expect((await console.run('status')).out).not.toMatch(/Needs a look|127\.0\.0\.1:9/);
  world.critical('Vault');
  await world.balanced();
});
