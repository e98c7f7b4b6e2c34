/**
 * Notices from inside what `/livez` shows outside: a loop that has stopped. An event loop that is blocked
 * for good cannot notice itself; then `/livez` gives no answer, and the supervisor acts.
 */

export interface Probe {
  name: string;
  boundMs: number;
  /** Epoch milliseconds: when it last turned, or when the canary last came through. */
  lastBeat(): number;
}

export interface Stuck {
  name: string;
  /** Since its last beat. */
  silentMs: number;
}

export interface WatchdogSettings {
  probes: readonly Probe[];
  /** Once for each time that a probe falls silent. */
  onStuck(stuck: Stuck): void;
  /** How late this round came: for this long the event loop was busy, or the machine slept. */
  onLag?(lagMs: number): void;
  now?(): number;
  /** Default 1000. */
  everyMs?: number;
}

export interface Watchdog {
  /** May be called again. */
  stop(): void;
}

/**
 * Looks at once every `everyMs`. After a round that came late itself, every bound begins again: while the machine slept
 * nobody could beat, and all the loops would look stuck in the moment of waking.
 */
export const createWatchdog = (settings: WatchdogSettings): Watchdog => {
  const { probes, onStuck, onLag = () => {}, now = Date.now, everyMs = 1000 } = settings;
  const stuck = new Set<string>();
  let dueAt = now() + everyMs;
  let fairSince = Number.NEGATIVE_INFINITY;

  const look = ({ name, boundMs, lastBeat }: Probe): void => {
    const beatAt = lastBeat();
    if (now() - Math.max(beatAt, fairSince) <= boundMs) {
      // A beat, not our own lateness, ends the silence.
      if (now() - beatAt <= boundMs) stuck.delete(name);
      return;
    }
    if (stuck.has(name)) return;
    stuck.add(name);
    onStuck({ name, silentMs: now() - beatAt });
  };

  const round = (): void => {
    const lagMs = Math.max(0, now() - dueAt);
    dueAt = now() + everyMs;
    onLag(lagMs);
    if (lagMs > everyMs) fairSince = now();
    for (const probe of probes) look(probe);
  };

  const timer = setInterval(round, everyMs).unref();
  return { stop: () => clearInterval(timer) };
};
