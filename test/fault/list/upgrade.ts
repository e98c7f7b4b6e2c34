/** Three daemons are replaced one by one by those of another version; all work on the same Redis meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../daemon-process.ts';
import type { Fault } from '../fault.ts';
import { newerTree } from '../newer.ts';
import type { Stage } from '../stage.ts';

const TOGETHER_MS = 4000;

const replaceAll = async ({ daemons }: Stage, root: string): Promise<void> => {
  for (const daemon of daemons) {
    await daemon.terminate();
    await daemon.start(root);
    await sleep(TOGETHER_MS);
  }
};

/** Slack takes one message in two seconds, so that there are batches. */
const BATCHES = { channels: { slack: { rateLimit: { perSecond: 0.5, burst: 1 } } } };

export const UPGRADE_FAULTS: readonly Fault[] = [
  {
    name: 'upgrade',
    what: 'three daemons, replaced one by one by those whose jobs have a newer version',
    stage: { daemons: 3, config: BATCHES },
    doubles: 'none',
    strike: async (stage) => replaceAll(stage, await newerTree()),
  },
  {
    name: 'rollback',
    what: 'three daemons of the newer version are replaced and come back: what the older ones cannot read waits for them',
    stage: { daemons: 3, root: newerTree, config: BATCHES },
    doubles: 'none',
    strike: async (stage) => {
      await replaceAll(stage, ROOT);
      await replaceAll(stage, await newerTree());
    },
  },
];
