/** Our own clock is set back by an hour, on every daemon: polls, send slots and probes go on. */
import { expect, test, vi } from 'vitest';
import { until } from '../support/until.ts';
import { startWorld } from './world.ts';

const HOUR_MS = 3_600_000;

test('a clock that is set back by an hour loses nothing, and stops nothing for that hour', async ({
  onTestFinished: onFinished,
}) => {
  const realNow = Date.now;
  const clock = { backMs: 0 };
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() - clock.backMs);
  onFinished(() => {
    vi.restoreAllMocks();
  });
  // Some always wait for their slot. No webhook: its receiver refuses what is signed an hour off.
  const rateLimit = { perSecond: 2, burst: 1 };
  const world = await startWorld({
    onFinished,
    names: ['Vault'],
    kinds: ['telegram', 'slack'],
    now: realNow,
    config: { channels: { telegram: { rateLimit }, slack: { rateLimit } } },
  });
  const daemon = await world.start();
  await daemon.watching();
  world.critical('Vault', 8);
  await until('some have arrived', () => world.reconciler.count() >= 2);
  const repair = world.sandbox.receivers.telegram.script.always({ kind: 'reset' });
  world.critical('Vault', 8);
  await until('a circuit is open', () => daemon.logText().includes('a destination is broken'));
  clock.backMs = HOUR_MS;
  repair();
  world.critical('Vault', 2);
  await world.delivered(180_000);
  world.critical('Vault');
  await world.delivered(180_000);
  expect(world.reconciler.balance()).toEqual({ missing: [], doubled: [], unexpected: [] });
}, 420_000);
