/**
 * The order of the files: what takes half a minute begins first, so that none of it is left alone at the end. On a fresh
 * clone Vitest knows nothing of a file but its size, and some of the slowest are short.
 */
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const SLOW = [
  ...['scenario/announced-once', 'scenario/grows', 'scripts/package', 'scenario/unheard'],
  ...['scenario/metrics', 'scenario/watchdog-troubles', 'fault/short', 'redis/embedded', 'scenario/clock'],
  ...['scenario/crash', 'property/reading', 'scenario/acknowledge', 'scenario/rules-on-daemons'],
  ...['scenario/rules-on-daemons-limits', 'scenario/reload', 'scenario/server-change', 'scenario/shares'],
  ...['deploy/compose-ha', 'contract/channels', 'channels/email/lint', 'scenario/service', 'bench/benches'],
];

const rankOf = ({ moduleId }: TestSpecification): number => {
  const rank = SLOW.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
  return rank === -1 ? SLOW.length : rank;
};

/** A class because Vitest makes one. */
export class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
