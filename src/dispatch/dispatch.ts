/** New alerts of one page -> destinations -> parcels -> jobs, through the stages below. */
import type { Alert } from '../alert.ts';
import { type BoundDependencies, bound } from './bound.ts';
import { type CorrelateDependencies, correlate } from './correlate.ts';
import { type EnqueueDependencies, enqueue } from './enqueue.ts';
import { type EnrichDependencies, enrich } from './enrich.ts';
import { pack } from './pack.ts';
import { type RecordDependencies, record } from './record.ts';
import { type RouteDependencies, route } from './route.ts';
import { type SetDeadlineDependencies, setDeadline } from './set-deadline.ts';
import type { DispatchRun, DispatchStage, RoutedAlert } from './stage.ts';
import { type SuppressDependencies, suppress } from './suppress.ts';

export type DispatchDependencies = BoundDependencies &
  EnrichDependencies &
  RouteDependencies &
  CorrelateDependencies &
  SuppressDependencies &
  SetDeadlineDependencies &
  RecordDependencies &
  EnqueueDependencies;

/** In this order. Each stage is a file of this folder that bears its name. */
const STAGES: readonly DispatchStage<DispatchDependencies>[] = [
  bound,
  enrich,
  route,
  correlate,
  suppress,
  setDeadline,
  pack,
  record,
  enqueue,
];

/** For alerts whose destinations are known: a follow-up goes where the alert that it follows went. */
const ROUTED_STAGES: readonly DispatchStage<DispatchDependencies>[] = [bound, suppress, pack, record, enqueue];

export interface Dispatch {
  /** When it resolves, every alert is durably queued or accounted for. `nonce` makes a deliberate repeat other jobs. */
  dispatch(alerts: readonly Alert[], nonce?: string): Promise<void>;
  /** The same for alerts whose destinations are known. Gives how many parcels were queued. */
  dispatchRouted(alerts: readonly RoutedAlert[]): Promise<number>;
}

export const createDispatch = (dependencies: DispatchDependencies): Dispatch => {
  const run = async (
    stages: readonly DispatchStage<DispatchDependencies>[],
    alerts: readonly RoutedAlert[],
    nonce?: string,
  ) => {
    let current: DispatchRun = { alerts, groups: [], ...(nonce === undefined ? {} : { nonce }) };
    for (const stage of stages) current = await stage(current, dependencies);
    return current;
  };
  return {
    dispatch: async (alerts, nonce) => {
      const unrouted = alerts.map((alert) => ({ alert, destinations: [] }));
      await run(STAGES, unrouted, nonce);
    },
    dispatchRouted: async (alerts) => {
      const { groups } = await run(ROUTED_STAGES, alerts);
      return groups.reduce((sum, { parcels }) => sum + parcels.length, 0);
    },
  };
};
