/**
 * A signal that aborts with the caller's or after a time, whichever is first; as with `AbortSignal.timeout`, the reason is
 * a `TimeoutError` then. Own timer and listener, undone at the end of the request: `AbortSignal.timeout` would keep each
 * request's timer until it fires, long after the answer.
 */

/** The longest delay that a timer accepts; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export interface Deadline {
  signal: AbortSignal;
  /** Who ended it, or `undefined` while time is left. */
  ended(): 'aborted' | 'expired' | undefined;
  /** Lets go of the timer and the caller's signal. */
  end(): void;
}

export const startDeadline = (caller: AbortSignal, timeoutMs: number): Deadline => {
  const controller = new AbortController();
  let ended: 'aborted' | 'expired' | undefined;
  const finish = (how: 'aborted' | 'expired', reason: unknown) => {
    ended ??= how;
    controller.abort(reason);
  };
  const abort = () => finish('aborted', caller.reason);
  const expire = () => finish('expired', new DOMException('The operation timed out', 'TimeoutError'));
  const timer = setTimeout(expire, Math.min(timeoutMs, MAX_DELAY_MS));
  if (caller.aborted) abort();
  else caller.addEventListener('abort', abort, { once: true });
  return {
    signal: controller.signal,
    ended: () => ended,
    end: () => {
      clearTimeout(timer);
      caller.removeEventListener('abort', abort);
    },
  };
};
