/** Stage: records the deliveries in the ledger as waiting. Those that are delivered already stay delivered. */
import type { Parcel } from '../alert.ts';
import type { DispatchStage } from './stage.ts';

export interface RecordDependencies {
  recordWaiting(parcels: readonly Parcel[]): Promise<void>;
}

export const record: DispatchStage<RecordDependencies> = async (run, { recordWaiting }) => {
  if (run.groups.length > 0) await recordWaiting(run.groups.flatMap(({ parcels }) => parcels));
  return run;
};
