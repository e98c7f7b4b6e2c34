/** A master goes and another takes over; three daemons work on it. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from '../fault.ts';

/** Longer than any failover here takes. */
const GONE_MS = 12_000;

const killMaster: Fault['strike'] = async ({ redis: { master } }) => {
  await master.kill('SIGKILL');
  await sleep(GONE_MS);
  await master.start();
};

export const FAILOVER_FAULTS: readonly Fault[] = [
  {
    name: 'sentinel-killed',
    what: 'kill -9 of the master under three Sentinels; it comes back as a replica',
    stage: { daemons: 3, redis: 'sentinel' },
    doubles: 'in flight',
    strike: killMaster,
  },
  {
    name: 'sentinel-frozen',
    what: 'the master under three Sentinels is suspended, and wakes when another is master',
    stage: { daemons: 3, redis: 'sentinel' },
    doubles: 'in flight',
    strike: async ({ redis: { master } }) => {
      master.freeze();
      await sleep(GONE_MS);
      master.thaw();
    },
  },
  {
    name: 'cluster-killed',
    what: 'kill -9 of the master of our slot, in a Cluster of three masters with replicas',
    stage: { daemons: 3, redis: 'cluster' },
    doubles: 'in flight',
    strike: killMaster,
  },
  {
    name: 'cluster-down',
    what: 'kill -9 of the master of our slot and its replica: the Cluster is down for 30 s',
    stage: { daemons: 3, redis: 'cluster' },
    doubles: 'in flight',
    strike: async ({ redis: { master, replicas } }) => {
      const shard = [master, ...replicas];
      await Promise.all(shard.map((server) => server.kill('SIGKILL')));
      await sleep(30_000);
      await Promise.all(shard.map((server) => server.start()));
    },
  },
];
