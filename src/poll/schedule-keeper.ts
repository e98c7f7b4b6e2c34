/** Keeps the schedule in Redis equal to the turns that are wanted, also after Redis lost it or one of its turns. */

export interface ScheduleKeeperDependencies<Wanted> {
  schedule: {
    /** Makes the schedule equal to these turns; those that have `stopped` are made anew. */
    sync(turns: readonly Wanted[], stopped?: readonly string[]): Promise<void>;
    /** How many turns Redis holds now, and the ids of those that will not come in time. */
    check(): Promise<{ count: number; stopped: readonly string[] }>;
  };
  turns: readonly Wanted[];
  /** Called before turns that have stopped are made anew. */
  onStopped(ids: readonly string[]): void;
}

export const createScheduleKeeper = <Wanted>({ schedule, turns, onStopped }: ScheduleKeeperDependencies<Wanted>) => {
  /** Whatever Redis holds may be of an earlier start, or of an older daemon. */
  let isOutdated = true;
  return {
    /** Sets the schedule up where Redis holds other turns than are wanted, and where some have stopped. */
    keep: async (): Promise<void> => {
      const { count, stopped } = await schedule.check();
      if (!isOutdated && count >= turns.length && stopped.length === 0) return;
      if (stopped.length > 0) onStopped(stopped);
      isOutdated = false;
      await schedule.sync(turns, stopped);
    },
    /** A turn came that nobody wants any more. */
    outdated: (): void => {
      isOutdated = true;
    },
  };
};
