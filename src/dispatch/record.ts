/** Stage: writes into the ledger that the deliveries are on their way. What is delivered already stays so. */
import type { Parcel } from '../alert.ts';
import type { DispatchStage } from './stage.ts';

export interface RecordDependencies {
  recordWaiting(parcels: readonly Parcel[]): Promise<void>;
}

export const record: DispatchStage<RecordDependencies> = async (run, { recordWaiting }) => {
  if (run.groups.length > 0) await recordWaiting(run.groups.flatMap(({ parcels }) => parcels));
  return run;
};
