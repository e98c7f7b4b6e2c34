/** What a fault is to the suite: where it is played, and what it does. */
import type { Stage, StageOptions } from './stage.ts';

/** What a fault takes hold of; two that have something in common are never played at the same time. */
export type Grip = 'daemon' | 'redis' | 'service' | 'receivers' | 'clock';

export interface Fault {
  /** For `--only`, and in the table. */
  name: string;
  /** What happens, in a few words. */
  what: string;
  stage?: StageOptions;
  /**
   * When a double may come about: while something was in flight as the fault struck, or at no time, as nothing that
   * was sent is forgotten.
   */
  doubles: 'in flight' | 'none';
  /** Messages with something that had come before, at one destination. Default: as many as there are. */
  doublesPerDestination?: number;
  /** Of the short form: over in seconds. */
  isQuick?: boolean;
  /** May be drawn together with others, on the stage of `together`. */
  grip?: Grip;
  /** Why it cannot be played here; undefined where it can. */
  whyNot?(): string | undefined;
  /** What is lost is written down, and is no failure: nothing that was left knows of it. */
  loses?: boolean;
  /** Strikes and mends. The alerts go on meanwhile. */
  strike(stage: Stage): Promise<void>;
}
