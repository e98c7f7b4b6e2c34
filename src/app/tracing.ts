/** Composes tracing: where the trace of an alert gets its spans. */
import type { Dispatch } from '../dispatch/dispatch.ts';
import type { Tracing } from '../ops/tracing.ts';

export interface TracedDependencies {
  /** Undefined where it is off. */
  tracing?: Tracing | undefined;
  now(): number;
}

/** Each alert's trace begins when it is durably queued. */
export const tracedDispatch = ({ tracing, now }: TracedDependencies, inner: Dispatch): Dispatch => {
  if (tracing === undefined) return inner;
  return {
    dispatch: async (alerts, nonce) => {
      const beganAt = now();
      await inner.dispatch(alerts, nonce);
      tracing.dispatched(alerts, beganAt);
    },
    dispatchRouted: async (routed) => {
      const beganAt = now();
      const parcels = await inner.dispatchRouted(routed);
      tracing.dispatched(
        routed.map(({ alert }) => alert),
        beganAt,
      );
      return parcels;
    },
  };
};
