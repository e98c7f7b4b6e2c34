/** Bounds and waits that no config key sets. A test hands a daemon smaller ones. */
import { HOLD_BOUNDS, type HoldBounds } from '../features/approval/store.ts';
import { USUAL_MS } from '../features/silence/check.ts';
import { LASTING_MS } from '../features/status/troubles.ts';
import { LOOK_EVERY_MS } from '../features/watchdog/detectors.ts';
import { MOST_DEAD } from '../ledger/dead-letters.ts';
import { GONE_AFTER_MS } from '../ops/checks.ts';
import { CANARY_LATE_MS, END_MS, LEAST_BOUND_MS, LOOK_AT_DELAY_MS } from '../ops/loop-watch.ts';

export interface Limits {
  /** Dead letters that are kept. */
  dead: number;
  /** What is held for destinations that nobody has approved. */
  held: HoldBounds;
  /** A trouble that may pass by itself needs somebody when it has lasted for so long. */
  lastingMs: number;
  /** No job has come through a queue for so long, or for as long as its canary may take. */
  canaryLateMs: number;
  /** A loop may stand still for so long, or for three of its intervals; longer fails `/livez`. */
  loopBoundMs: number;
  /** A loop that stands still for so long ends the daemon. */
  loopEndMs: number;
  /** How often it is looked whether the event loop was blocked. */
  delayEveryMs: number;
  /** How often Redis and the disk are looked at. */
  detectEveryMs: number;
  /** Jobs of a newer version are gone when none has come up for so long. */
  newerJobsGoneMs: number;
  /** How often a protocol is asked for its newest inspection, where there are few protocols. */
  silenceProbeMs: number;
  /** How often the config file is looked at; what is the same at two looks is read. */
  configLookMs: number;
  /** A changed config file comes into force within this time, or somebody has to know. */
  configTakenMs: number;
}

export const LIMITS: Limits = {
  dead: MOST_DEAD,
  held: HOLD_BOUNDS,
  lastingMs: LASTING_MS,
  canaryLateMs: CANARY_LATE_MS,
  loopBoundMs: LEAST_BOUND_MS,
  loopEndMs: END_MS,
  delayEveryMs: LOOK_AT_DELAY_MS,
  detectEveryMs: LOOK_EVERY_MS,
  newerJobsGoneMs: GONE_AFTER_MS,
  silenceProbeMs: USUAL_MS,
  configLookMs: 2000,
  configTakenMs: 60_000,
};
