/** Three daemons are replaced one by one by those of another version; all work on the same Redis meanwhile. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT } from '../daemon-process.ts';
import type { Fault } from '../fault.ts';
import { olderTree, whyNoOlder } from '../older.ts';
import type { Stage } from '../stage.ts';

const TOGETHER_MS = 4000;

const replaceAll = async ({ daemons }: Stage, root: string): Promise<void> => {
  for (const daemon of daemons) {
    await daemon.terminate();
    await daemon.start(root);
    await sleep(TOGETHER_MS);
  }
};

/** Slack takes one message in two seconds, so that there are batches. The older version does not know `groupWait`. */
const BATCHES = { channels: { slack: { rateLimit: { perSecond: 0.5, burst: 1 } }, email: { groupWait: null } } };

export const UPGRADE_FAULTS: readonly Fault[] = [
  {
    name: 'upgrade',
    what: 'three daemons of the commit before these faults, replaced one by one by this one',
    stage: { daemons: 3, root: olderTree, config: BATCHES },
    doubles: 'none',
    whyNot: whyNoOlder,
    strike: (stage) => replaceAll(stage, ROOT),
  },
  {
    name: 'rollback',
    what: 'the same back and forth: what the older version cannot read waits for this one',
    stage: { daemons: 3, config: BATCHES },
    doubles: 'none',
    whyNot: whyNoOlder,
    strike: async (stage) => {
      await replaceAll(stage, await olderTree());
      await replaceAll(stage, ROOT);
    },
  },
];
