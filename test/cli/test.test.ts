/** `tocsin test` beside a running daemon: what keeps alerts from where the sample went, and a sample that does not arrive. */
import { expect, test } from 'vitest';
import { startWorld, type WorldOptions } from '../scenario/world.ts';
import { openConsole } from './console.ts';

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

test('one that does not arrive in time is cancelled, comes no later, and opens no circuit', async () => {
  const { world, console } = await start();
  const { webhook } = world.sandbox.receivers;
  webhook.script.always({ kind: 'answer', status: 503 });
  const to = `${world.addresses.webhook.url}/test-only`;
  const { code, out, err } = await console.run('test', '--channel', 'webhook', '--to', to, '--timeout', '1s');
  expect(code).toBe(75);
  expect(err).toMatch(/^webhook \S+ \(\w{4}\): .*answered 503.*; trying again, 1 s in all\n$/);
  const cancelled =
    /^webhook \S+ \(\w{4}\): cancelled: .*answered 503 .*\nnot all was delivered within 1 s, so the test was cancelled and is not sent any more: tocsin trace (\w+)\n$/;
  expect(out).toMatch(cancelled);
  const id = cancelled.exec(out)?.[1] ?? '';
  const traced = await console.json<{ deliveries: { state: string; attempts: { reason?: string }[] }[] }[]>(
    'trace',
    id,
  );
  expect(traced[0]?.deliveries).toMatchObject([{ state: 'dead' }]);
  // Perhaps not the last: a try that was under way ends later.
  expect(traced[0]?.deliveries[0]?.attempts.map(({ reason }) => reason)).toContain('cancelled');
  expect((await console.run('trace', id)).out).toMatch(/; cancelled: the sender of this test has stopped waiting/);
  expect(await console.json<unknown[]>('dead', 'list')).toEqual([]);
  expect((await console.run('status')).out).not.toMatch(/Needs a look/);
  // Only now: a try that was under way at the end of the time would have arrived.
  webhook.script.clear();
  // Later alerts come, and the test does not: its job is gone, and would find nothing to send.
  world.critical('Vault');
  await world.balanced();
  expect(webhook.received().filter(({ text }) => text.includes('test.sample'))).toEqual([]);
});

test('names the channels of the protocol that get nothing, as the config does not set them up', async () => {
  const { world, console } = await start();
  const [vault] = world.sandbox.service.protocols();
  if (vault === undefined) throw new Error('there is no protocol');
  const { name: protocol, apiKey, channels } = vault;
  world.sandbox.service.replaceChannels({ protocol, apiKey }, [...channels, { name: 'pager', contacts: ['1'] }]);
  const { code, out, err } = await console.run('test', '--protocol', 'Vault');
  expect({ code, err }).toEqual({ code: 0, err: "not sent: a channel of unknown kind 'pager'\n" });
  expect(out.trimEnd().split('\n')).toHaveLength(4);
});
