/** What commands did is logged by every running daemon, once. */
import { expect, test } from 'vitest';
import { createOperatorLogReader } from '../../../src/features/status/operator-log.ts';
import { createOperatorLog, type OperatorAction } from '../../../src/ledger/operator-log.ts';
import { openTestRedis } from '../../support/redis.ts';

const T0 = Date.parse('2026-11-20T12:00:00Z');
const AT = '2026-11-20T12:00:00.000Z';

const setUp = () => {
  const { redis, prefix } = openTestRedis();
  const operatorLog = createOperatorLog(redis, prefix, () => T0);
  /** Gives what one daemon logs each time it reads. */
  const startDaemon = () => {
    const lines: object[] = [];
    const log = { info: (line: object, msg: string) => void lines.push({ ...line, msg }) };
    const look = createOperatorLogReader({
      operatorLog,
      log: log as Parameters<typeof createOperatorLogReader>[0]['log'],
    });
    return async (): Promise<object[]> => {
      await look();
      return lines.splice(0);
    };
  };
  return { redis, prefix, operatorLog, startDaemon };
};

const MUTE = { mute: 'mute-1', what: 'protocol Vault', reason: 'upgrade', until: '2026-11-20T14:00:00.000Z' };
const HOOK = { destination: 'webhook-1', to: 'hooks.example.com (3f1c)' };
const begun = (mute: string): OperatorAction => ({ action: 'mute-begun', ...MUTE, mute });

test('every daemon logs an action once, and none from before it started', async () => {
  const { operatorLog, startDaemon } = setUp();
  await operatorLog.record(begun('mute-1'));
  const one = startDaemon();
  expect(await one()).toEqual([]);
  await operatorLog.record(begun('mute-2'));
  const other = startDaemon();
  expect(await other()).toEqual([]);
  await operatorLog.record({ action: 'mute-ended', ...MUTE, mute: 'mute-2' });

  const ended = { ...MUTE, mute: 'mute-2', at: AT, msg: 'a mute was ended by hand' };
  expect(await one()).toEqual([{ ...MUTE, mute: 'mute-2', at: AT, msg: 'a mute has begun' }, ended]);
  expect(await other()).toEqual([ended]);
  expect([await one(), await other()]).toEqual([[], []]);
});

test('a daemon that starts with an empty log reads the first action', async () => {
  const { operatorLog, startDaemon } = setUp();
  const logged = startDaemon();
  await logged();
  await operatorLog.record(begun('mute-1'));
  expect(await logged()).toEqual([{ ...MUTE, at: AT, msg: 'a mute has begun' }]);
});

test('every action has its own message', async () => {
  const { operatorLog, startDaemon } = setUp();
  const logged = startDaemon();
  await logged();
  const moved = { service: 'main', protocol: 'Vault', source: 'inspections', movedTo: AT };
  await operatorLog.record(
    { action: 'destination-approved', ...HOOK, sent: 2 },
    { action: 'destination-revoked', ...HOOK },
    { action: 'destination-dropped', ...HOOK, dropped: 3 },
    { action: 'destination-enabled', ...HOOK },
    { action: 'cursor-moved', ...moved },
    { action: 'dead-retried', sent: 1, held: 0, waiting: 0, delivered: 0, refused: 0 },
    { action: 'dead-dropped', dropped: 4 },
    { action: 'replayed', since: AT, until: AT, queued: 5 },
  );
  const LOGGED = { ...HOOK, to: [HOOK.to] };
  expect(await logged()).toEqual([
    { ...LOGGED, sent: 2, at: AT, msg: 'a destination was approved' },
    { ...LOGGED, at: AT, msg: 'a destination was revoked' },
    { ...LOGGED, dropped: 3, at: AT, msg: 'alerts for a destination were dropped' },
    { ...LOGGED, at: AT, msg: 'a destination was enabled' },
    { ...moved, at: AT, msg: 'a cursor was moved' },
    { sent: 1, held: 0, waiting: 0, delivered: 0, refused: 0, at: AT, msg: 'dead deliveries were sent again' },
    { dropped: 4, at: AT, msg: 'dead deliveries were dropped' },
    { since: AT, until: AT, queued: 5, at: AT, msg: 'history was replayed' },
  ]);
});

test('what a newer command records is logged under its own name', async () => {
  const { redis, prefix, startDaemon } = setUp();
  const logged = startDaemon();
  await logged();
  await redis.xadd(`${prefix}:operator-log`, '*', 'action', JSON.stringify({ action: 'moon-landed', at: AT }));
  expect(await logged()).toEqual([{ at: AT, msg: "an operator's command: moon-landed" }]);
});
