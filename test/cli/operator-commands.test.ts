/** What commands write into the operator log, seen in the store and in a daemon's log. */
import { expect, test } from 'vitest';
import { createOperatorLog } from '../../src/ledger/operator-log.ts';
import { startWorld } from '../scenario/world.ts';
import { openTestRedis } from '../support/redis.ts';
import { until } from '../support/until.ts';
import { openConsole } from './console.ts';

interface Known {
  id: string;
  label: string;
}

const isoTime = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

test('every command that changes something records it', async () => {
  const { redis } = openTestRedis();
  const world = await startWorld({ names: ['Vault'], kinds: ['slack'], config: { destinations: { gate: true } } });
  const { always } = world.sandbox.receivers.slack.script;
  const mend = always({ kind: 'answer', status: 200, body: { ok: false, error: 'channel_not_found' } });
  const daemon = await world.start();
  await daemon.watching();
  const console = await openConsole(world);
  const log = createOperatorLog(redis, world.prefix, Date.now);
  let position = await log.end();
  /** What one command recorded. */
  const recorded = async (...args: string[]) => {
    expect(await console.run(...args)).toMatchObject({ code: 0 });
    const { actions, position: next } = await log.after(position);
    position = next;
    return actions;
  };

  const [slack] = await console.json<Known[]>('destinations', 'list');
  const facts = { destination: slack?.id, to: 'C0SANDBOX01', at: isoTime };
  expect(await recorded('destinations', 'approve', 'C0SANDBOX01')).toEqual([
    { action: 'destination-approved', sent: 0, ...facts },
  ]);
  expect(await recorded('destinations', 'approve', 'C0SANDBOX01')).toEqual([]);
  expect(await recorded('destinations', 'revoke', 'C0SANDBOX01')).toEqual([
    { action: 'destination-revoked', ...facts },
  ]);
  world.critical('Vault');
  await until('a held alert', async () =>
    (await console.json<{ waiting: number }[]>('destinations', 'list')).some(({ waiting }) => waiting === 1),
  );
  expect(await recorded('destinations', 'revoke', '--drop', 'C0SANDBOX01')).toEqual([
    { action: 'destination-dropped', dropped: 1, ...facts },
  ]);

  const about = { what: 'detector oracle*', reason: 'noise', author: 'alice' };
  const mute = { ...about, mute: expect.stringMatching(/^mute-/), until: isoTime };
  const author = ['--author', 'alice'];
  const added = ['mute', 'add', '--detector', 'oracle*', '--for', '1h', '--reason', 'noise', ...author];
  const [begun] = await recorded(...added);
  expect(begun).toEqual({ action: 'mute-begun', ...mute, at: isoTime });
  const id = begun?.action === 'mute-begun' ? begun.mute : '';
  expect(await recorded('mute', 'extend', id, '--for', '1h', '--author', 'bob')).toEqual([
    { action: 'mute-extended', ...mute, mute: id, extendedBy: 'bob', at: isoTime },
  ]);
  expect(await recorded('mute', 'end', id)).toEqual([{ action: 'mute-ended', ...mute, mute: id, at: isoTime }]);

  expect(await recorded('cursor', 'set', '--protocol', 'Vault', '--source', 'notifications', '--to', '6h')).toEqual([
    {
      action: 'cursor-moved',
      service: 'sandbox',
      protocol: 'Vault',
      source: 'notifications',
      movedTo: isoTime,
      before: isoTime,
      at: isoTime,
    },
  ]);

  await recorded('destinations', 'approve', 'C0SANDBOX01');
  world.critical('Vault', 2);
  const dead = () => console.json<{ id: string }[]>('dead', 'list', '--reason', 'destination-dead');
  await until('dead deliveries', async () => (await dead()).length === 2);
  const [first] = await dead();
  expect(await recorded('dead', 'drop', first?.id ?? '', '--yes')).toEqual([
    { action: 'dead-dropped', dropped: 1, at: isoTime },
  ]);
  mend();
  const resent = { held: 0, waiting: 0, delivered: 0, refused: 0 };
  expect(await recorded('dead', 'retry', '--reason', 'destination-dead')).toEqual([
    { action: 'dead-retried', sent: 1, ...resent, at: isoTime },
  ]);
  await daemon.idle();
  expect(await recorded('replay', '--since', '1h', '--yes')).toEqual([
    { action: 'replayed', since: isoTime, until: isoTime, queued: 3, at: isoTime },
  ]);
  await until('the daemon has read the operator log', () => daemon.log('history was replayed').length === 1, 20_000);
  expect(daemon.log('a destination was approved')).toHaveLength(2);
  expect(daemon.log('a mute has begun')).toMatchObject([{ mute: id, what: 'detector oracle*', reason: 'noise' }]);
});

test('a destination that is enabled by hand', async () => {
  const { redis } = openTestRedis();
  const world = await startWorld({ names: ['Vault'], kinds: ['webhook'] });
  world.sandbox.receivers.webhook.script.always({ kind: 'answer', status: 410 });
  world.critical('Vault');
  const daemon = await world.start();
  await daemon.watching();
  const console = await openConsole(world);
  interface Listed extends Known {
    disabled?: boolean;
  }
  const disabled = async () => (await console.json<Listed[]>('destinations', 'list')).filter((one) => one.disabled);
  await until('a disabled destination', async () => (await disabled()).length > 0);
  const [hook] = await disabled();
  const log = createOperatorLog(redis, world.prefix, Date.now);
  const before = await log.end();
  expect(await console.run('destinations', 'enable', hook?.id ?? '')).toMatchObject({ code: 0 });
  expect((await log.after(before)).actions).toEqual([
    { action: 'destination-enabled', destination: hook?.id, to: hook?.label, at: isoTime },
  ]);
});
