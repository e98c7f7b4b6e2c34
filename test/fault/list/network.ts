/** Connections that fall silent without being closed, and names that nobody knows. */
import { setTimeout as sleep } from 'node:timers/promises';
import { CHANNEL_KINDS } from '../../../src/alert.ts';
import type { Fault } from '../fault.ts';
import type { End } from '../stage.ts';

const SILENT_MS = 10_000;

const halfOpen = (end: End): Fault => ({
  name: `half-open-${end}`,
  what: `connections to ${end === 'service' ? 'the service' : end} swallow all bytes for 10 s; the old ones stay silent`,
  doubles: 'in flight',
  grip: end === 'service' ? 'service' : 'receivers',
  strike: async ({ links }) => {
    links[end].swallow();
    await sleep(SILENT_MS);
    links[end].heal();
  },
});

const names = (how: 'unknown' | 'silent'): Fault => ({
  name: `names-${how}`,
  what: `every connection is cut, and for 10 s the name server ${how === 'unknown' ? 'knows no name' : 'is silent'}`,
  stage: { host: 'localhost' },
  doubles: 'in flight',
  strike: async ({ daemons: [daemon], links }) => {
    await daemon.trouble({ names: how });
    await sleep(200);
    for (const link of Object.values(links)) link.cut();
    await sleep(SILENT_MS);
    await daemon.trouble({});
  },
});

export const NETWORK_FAULTS: readonly Fault[] = [
  {
    name: 'half-open-redis',
    what: 'connections to Redis swallow all bytes for 20 s; the old ones stay silent',
    doubles: 'in flight',
    grip: 'redis',
    strike: async ({ redis: { links } }) => {
      for (const link of links) link.swallow();
      await sleep(2 * SILENT_MS);
      for (const link of links) link.heal();
    },
  },
  ...(['service', ...CHANNEL_KINDS] as const).map(halfOpen),
  names('unknown'),
  names('silent'),
];
