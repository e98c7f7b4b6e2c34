/** Limits equal errors: a fault may repeat thousands of times a minute and must not fill the log. */

export interface Throttle {
  /** `times` counts this error and the equal ones suppressed since it was last passed on. */
  onError(error: Error, times: number): void;
  now(): number;
  /** Equal errors are passed on at most once in this time. Default 10 s. */
  windowMs?: number;
}

/** Different texts remembered at once; a text that holds an id or an address must not grow this for ever. */
const REMEMBERED = 100;

/** Errors are equal when their messages are. */
export const throttleErrors = ({ onError, now, windowMs = 10_000 }: Throttle): ((error: Error) => void) => {
  const passed = new Map<string, { at: number; suppressed: number }>();
  return (error) => {
    const before = passed.get(error.message);
    if (before !== undefined && now() - before.at < windowMs) {
      before.suppressed += 1;
      return;
    }
    passed.delete(error.message);
    passed.set(error.message, { at: now(), suppressed: 0 });
    const [oldest] = passed.keys();
    if (passed.size > REMEMBERED && oldest !== undefined) passed.delete(oldest);
    onError(error, (before?.suppressed ?? 0) + 1);
  };
};
