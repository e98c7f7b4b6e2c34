/** A warning that strangers can cause: written at once, and then at most once a minute, with how often it was due. */
import type { Logger } from 'pino';

export interface RareWarningDependencies {
  log: Pick<Logger, 'warn'>;
  text: string;
  now(): number;
}

const WINDOW_MS = 60_000;

export const createRareWarning = ({ log, text, now }: RareWarningDependencies): ((fields: object) => void) => {
  let times = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  return (fields) => {
    times += 1;
    if (Math.abs(now() - toldAt) < WINDOW_MS) return;
    log.warn({ ...fields, times }, text);
    times = 0;
    toldAt = now();
  };
};
