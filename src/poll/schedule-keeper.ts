/** Keeps the schedule in Redis equal to the turns that are wanted, also after Redis lost it or one of its turns. */

export interface ScheduleKeeperDependencies<Planned, Other> {
  schedule: {
    /** Makes the schedule equal to these turns; those that have `stopped` are made anew. */
    sync(turns: readonly (Planned | Other)[], stopped?: readonly string[]): Promise<void>;
    /** How many turns Redis holds now, and the ids of those that will not come in time. */
    check(): Promise<{ count: number; stopped: readonly string[] }>;
  };
  /** Turns that do not depend on the catalog. */
  others: readonly Other[];
  /** Called before turns that have stopped are made anew. */
  onStopped(ids: readonly string[]): void;
}

export const createScheduleKeeper = <Planned, Other>({
  schedule,
  others,
  onStopped,
}: ScheduleKeeperDependencies<Planned, Other>) => {
  /** Nothing was planned yet: whatever Redis holds is of an earlier start. */
  let planned = Number.POSITIVE_INFINITY;
  const sync = async (turns: readonly Planned[], stopped: readonly string[] = []): Promise<void> => {
    const all = [...turns, ...others];
    await schedule.sync(all, stopped);
    planned = all.length;
  };
  return {
    sync: (turns: readonly Planned[]) => sync(turns),
    /** Sets the schedule up where Redis holds fewer turns than were planned, and where some have stopped. */
    keep: async (plan: () => Promise<readonly Planned[]>): Promise<void> => {
      const { count, stopped } = await schedule.check();
      if (count >= planned && stopped.length === 0) return;
      if (stopped.length > 0) onStopped(stopped);
      await sync(await plan(), stopped);
    },
  };
};
