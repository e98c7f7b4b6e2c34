/** Three daemons share the work, and one of them is hurt. */
import { setTimeout as sleep } from 'node:timers/promises';
import { parse, stringify } from 'yaml';
import type { Fault } from '../fault.ts';

/** Beyond every lock. */
const GONE_MS = 15_000;
const THREE = { daemons: 3 };

export const CROWD_FAULTS: readonly Fault[] = [
  {
    name: 'three-killed',
    what: 'kill -9 of one of three daemons, started again after 15 s',
    stage: THREE,
    doubles: 'in flight',
    strike: async ({ daemons: [daemon] }) => {
      await daemon.kill();
      await sleep(GONE_MS);
      await daemon.start();
    },
  },
  {
    name: 'two-configs',
    what: 'one of three daemons gets another config, is killed for 45 s, and is back; then the others get it, too',
    stage: THREE,
    doubles: 'in flight',
    strike: async ({ daemons: [daemon, ...others] }) => {
      const config = parse(daemon.configText) as { alerts: object };
      const text = stringify({ ...config, alerts: { ...config.alerts, assessments: ['critical', 'suspecious'] } });
      await daemon.reload(text);
      await sleep(GONE_MS);
      await daemon.kill();
      await sleep(3 * GONE_MS);
      await daemon.start();
      await sleep(GONE_MS);
      for (const other of others) await other.reload(text);
    },
  },
  {
    name: 'three-frozen',
    what: 'SIGSTOP of one of three daemons for 15 s',
    stage: THREE,
    doubles: 'in flight',
    strike: async ({ daemons: [daemon] }) => {
      daemon.freeze();
      await sleep(GONE_MS);
      daemon.thaw();
    },
  },
  {
    name: 'three-cut-off',
    what: 'one of three daemons has no way to Redis for 15 s, and gets no error',
    stage: THREE,
    doubles: 'in flight',
    strike: async ({ redis: { links } }) => {
      links[0]?.swallow();
      await sleep(GONE_MS);
      links[0]?.heal();
    },
  },
];
