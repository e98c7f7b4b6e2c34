/** One generation: everything that its config decides, from its opening to its end. */
import { randomUUID } from 'node:crypto';
import { openConfiguredChannels } from '../channels/open.ts';
import type { Config } from '../config/schema.ts';
import { createTroubles } from '../ops/troubles.ts';
import { type Context, type Grace, type Host, openVerbs, startWork } from './compose.ts';
import type { Generation } from './generations.ts';
import { createLifecycle } from './lifecycle.ts';
import { expectHealth, startMaintenance } from './maintenance.ts';
import { openOps } from './ops.ts';
import { openWatchdog } from './watchdog.ts';

export const AT_STOP: Grace = { sends: 4000, polls: 1000, turns: 0, step: 6000 };

/** The process lives on, so a send has its whole time, twice for one that amends first: nothing is in doubt. */
const atRetirement = ({ channels }: Config): Grace => {
  const sends = 2 * Math.max(0, ...Object.values(channels).map(({ timeout }) => timeout)) + 1000;
  return { sends, polls: 10_000, turns: 5000, step: Math.max(sends, 10_000) + 2000 };
};

const openChannels = async ({ config, now, lifecycle }: Context) => {
  const { channels, post, close } = await openConfiguredChannels(config, now);
  lifecycle.onStop('channels', close);
  return { channels, post };
};

/** Nothing of it runs before `start`. */
export const createGeneration = (host: Host, config: Config, fail: Context['fail']): Generation => {
  const lifecycle = createLifecycle(host.log, AT_STOP.step);
  const stopping = new AbortController();
  const troubles = createTroubles(host);
  const grace = { ...AT_STOP };
  const context: Context = {
    ...{ ...host, config, id: randomUUID(), troubles, lifecycle, grace, fail },
    stopping: stopping.signal,
  };
  /** Absent until it delivers. */
  let stopDelivering: ((graceMs: number) => Promise<void>) | undefined;
  const end = (): Promise<boolean> => {
    stopping.abort();
    // Before all else, and again where less time is left now than when it was first asked.
    void stopDelivering?.(grace.sends).catch(() => {});
    return lifecycle.stop(grace.step);
  };
  return {
    config,
    open: async () => {
      const { channels, post } = await openChannels(context);
      const verbs = openVerbs(context, channels);
      const { reading, health } = verbs;
      expectHealth(health, config);
      const ops = openOps({ ...context, ...verbs });
      const { endpoints, selfReport } = ops;
      const watchdog = openWatchdog({ ...context, ...verbs, ...ops, post });
      const start = async (): Promise<void> => {
        ({ stopDelivering } = await startWork(context, verbs));
        const maintenance = startMaintenance({ ...context, ...verbs, ...ops, watchdog });
        lifecycle.onStop('maintenance', async () => {
          stopping.abort();
          await maintenance;
        });
      };
      return { endpoints, selfReport, health, renewSchedule: reading.renewSchedule, start };
    },
    stop: () => {
      Object.assign(grace, AT_STOP);
      return end();
    },
    retire: () => {
      Object.assign(grace, atRetirement(config));
      return end();
    },
  };
};
