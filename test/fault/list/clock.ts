/** Our clock, or the service's, is wrong for a while. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

const HOUR_MS = 3_600_000;
const WRONG_MS = 15_000;

const ours = (name: string, clockMs: number): Fault => ({
  name: `clock-${name}`,
  what: `the daemon's clock is an hour ${name} for 15 s`,
  doubles: 'in flight',
  grip: 'clock',
  strike: async ({ daemons }) => {
    await Promise.all(daemons.map((daemon) => daemon.trouble({ clockMs })));
    await sleep(WRONG_MS);
    await Promise.all(daemons.map((daemon) => daemon.trouble({})));
  },
});

const services = (name: string, clockSkewMs: number): Fault => ({
  name: `service-clock-${name}`,
  what: `the service's clock is an hour ${name} for 15 s`,
  doubles: 'none',
  strike: async ({ sandbox: { service } }) => {
    service.changeQuirks({ clockSkewMs });
    await sleep(WRONG_MS);
    service.changeQuirks({ clockSkewMs: 0 });
  },
});

export const CLOCK_FAULTS: readonly Fault[] = [
  ours('back', -HOUR_MS),
  ours('ahead', HOUR_MS),
  services('back', -HOUR_MS),
  services('ahead', HOUR_MS),
];
