/** Keeps the schedule in Redis equal to the turns that are wanted, also after Redis lost it. */

export interface ScheduleKeeperDependencies<Planned, Other> {
  schedule: {
    /** Makes the schedule equal to these turns. */
    sync(turns: readonly (Planned | Other)[]): Promise<void>;
    /** Turns that Redis holds now. */
    count(): Promise<number>;
  };
  /** Turns that do not depend on the catalog. */
  others: readonly Other[];
}

export const createScheduleKeeper = <Planned, Other>({
  schedule,
  others,
}: ScheduleKeeperDependencies<Planned, Other>) => {
  /** Nothing was planned yet: whatever Redis holds is of an earlier start. */
  let planned = Number.POSITIVE_INFINITY;
  const sync = async (turns: readonly Planned[]): Promise<void> => {
    const all = [...turns, ...others];
    await schedule.sync(all);
    planned = all.length;
  };
  return {
    sync,
    /** Sets the schedule up where Redis holds fewer turns than were planned. */
    keep: async (plan: () => Promise<readonly Planned[]>): Promise<void> => {
      if ((await schedule.count()) < planned) await sync(await plan());
    },
  };
};
