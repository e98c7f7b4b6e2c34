/** Time and CPU time of this process from now on. */
export interface Spent {
  /** When the work began, in epoch milliseconds of the clock that the world has too. */
  begunAt: number;
  seconds: number;
  cpuSeconds: number;
}

const now = (): number => performance.timeOrigin + performance.now();

export const startWatch = (): (() => Spent) => {
  const begunAt = now();
  const cpu = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(cpu);
    return { begunAt, seconds: (now() - begunAt) / 1000, cpuSeconds: (user + system) / 1e6 };
  };
};
