/** Stage: one job for each parcel. From here on the alerts are durably queued. */
import type { Parcel } from '../alert.ts';
import type { DispatchStage } from './stage.ts';

export interface EnqueueDependencies {
  /** With `delayMs` a parcel's job waits this many milliseconds, and leaves out alerts that another alert covers by then. */
  enqueue(parcels: readonly Parcel[], nonce?: string, delayMs?: number): Promise<void>;
}

export const enqueue: DispatchStage<EnqueueDependencies> = async (run, dependencies) => {
  for (const { parcels, delayMs } of run.groups) await dependencies.enqueue(parcels, run.nonce, delayMs);
  return run;
};
