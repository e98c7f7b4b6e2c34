/**
 * Ends the alerts that no format could compose, after everything else of their job: a fault of ours, which a repeat would
 * only repeat. As dead letters they wait for a version that can.
 */
import { messageOf } from '../errors.ts';
import type { RecordDependencies } from './record.ts';
import type { JobRun } from './stage.ts';
import { endUnsent, type UnsentDependencies } from './unsent.ts';

export type GiveUpDependencies = UnsentDependencies & Pick<RecordDependencies, 'scrub'>;

const REASON = 'uncomposable';

export const giveUp = async (
  { job: { destination, attempt }, uncomposable }: Pick<JobRun, 'job' | 'uncomposable'>,
  dependencies: GiveUpDependencies,
): Promise<void> => {
  for (const { alerts, error } of uncomposable) {
    const message = `no message could be made of it, not even the plainest: ${dependencies.scrub(messageOf(error))}`;
    await endUnsent({ destination, alerts, attempt, reason: REASON, message }, dependencies);
  }
};
