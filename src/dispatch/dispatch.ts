/** New alerts of one page -> destinations -> parcels -> jobs, through the stages below. */
import type { Alert, Destination, Parcel } from '../alert.ts';
import { boundItem, itemSize } from '../item.ts';
import { type DispatchRun, type DispatchStage, type RoutedAlert, toParcels } from './parcels.ts';

// Stage: cuts items that are too large, and marks their alerts. What comes after this holds an item many times over.

interface BoundDependencies {
  /** Called for each alert whose item was cut. */
  onTruncated?(alert: Alert, bytes: number): void;
}

export const bound: DispatchStage<BoundDependencies> = async (run, { onTruncated }) => {
  const alerts = run.alerts.map((one) => {
    const item = boundItem(one.alert.item);
    if (item === one.alert.item) return one;
    const alert = { ...one.alert, item, truncatedFrom: itemSize(one.alert.item) };
    onTruncated?.(alert, alert.truncatedFrom);
    return { ...one, alert };
  });
  return { ...run, alerts };
};

// Stage: adds to each alert what helps people to decide.

interface EnrichDependencies {
  /** The same alerts in the same order, with context. Never throws. Default: nothing is added. */
  withContext?(alerts: readonly Alert[]): Promise<readonly Alert[]>;
}

export const enrich: DispatchStage<EnrichDependencies> = async (run, { withContext }) => {
  const enriched = await withContext?.(run.alerts.map(({ alert }) => alert));
  const alerts = run.alerts.map((one, index) => ({ ...one, alert: enriched?.[index] ?? one.alert }));
  return { ...run, alerts };
};

// Stage: finds the destinations of each alert. An alert without any is dead at once: kept, counted and announced.

/** Where an alert goes, and why. */
export interface Routes {
  destinations: Destination[];
  /** Channel entries that lead nowhere, one sentence each. */
  problems: string[];
  /** Set where nothing is sent on purpose. */
  skipped?: 'trigger';
}

interface RouteDependencies {
  routesOf(alert: Alert): Promise<Routes>;
  /** Ends an alert that has no destination; durable when it resolves. */
  onUnroutable(alert: Alert, problems: readonly string[]): Promise<void>;
  onRouted?(alert: Alert, routes: Routes): void;
}

export const route: DispatchStage<RouteDependencies> = async (run, { routesOf, onUnroutable, onRouted }) => {
  const alerts: RoutedAlert[] = [];
  const found = await Promise.all(run.alerts.map(async (one) => ({ one, routes: await routesOf(one.alert) })));
  for (const { one, routes } of found) {
    onRouted?.(one.alert, routes);
    if (routes.destinations.length > 0) alerts.push({ ...one, destinations: routes.destinations });
    else if (!routes.skipped) await onUnroutable(one.alert, routes.problems);
  }
  return { ...run, alerts };
};

// Stage: leaves out alerts that another one covers at a destination; an alert that may be covered soon has to wait.

export interface CorrelateDependencies {
  /** Those of its destinations where no other alert covers this one; the others are recorded as delivered. Default: all. */
  uncoveredAt?(alert: Alert, destinations: readonly Destination[]): Promise<readonly Destination[]>;
  /** Milliseconds to wait for an alert that may cover this one. Default: nothing waits. */
  delayOf?(alert: Alert): number | undefined;
}

export const correlate: DispatchStage<CorrelateDependencies> = async (run, { uncoveredAt, delayOf }) => {
  const alerts: RoutedAlert[] = [];
  for (const one of run.alerts) {
    const destinations = (await uncoveredAt?.(one.alert, one.destinations)) ?? one.destinations;
    const delayMs = delayOf?.(one.alert);
    if (destinations.length > 0) alerts.push({ ...one, destinations, ...(delayMs === undefined ? {} : { delayMs }) });
  }
  return { ...run, alerts };
};

// Stage: takes out alerts that are muted or wait for approval. Both are recorded before anything is queued.

interface SuppressDependencies {
  /** Each alert with the destinations that get it now; durable for the others when it resolves. Default: all get it. */
  filter?(alerts: readonly RoutedAlert[]): Promise<readonly RoutedAlert[]>;
}

export const suppress: DispatchStage<SuppressDependencies> = async (run, { filter }) => {
  if (filter === undefined || run.alerts.length === 0) return run;
  const alerts = await filter(run.alerts);
  return { ...run, alerts: alerts.filter(({ destinations }) => destinations.length > 0) };
};

// Stage: notes when to check whether somebody has accepted the alerts. Before they are queued: a crash loses no check.

interface SetDeadlineDependencies {
  /** Durable when it resolves. Default: nobody checks. */
  setDeadline?(alerts: readonly Alert[]): Promise<void>;
}

export const setDeadline: DispatchStage<SetDeadlineDependencies> = async (run, dependencies) => {
  if (run.alerts.length > 0) await dependencies.setDeadline?.(run.alerts.map(({ alert }) => alert));
  return run;
};

// Stage: one parcel for each destination. Alerts that wait for correlation have parcels of their own.

export const pack: DispatchStage<object> = async (run) => {
  const byDelay = Map.groupBy(run.alerts, ({ delayMs }) => delayMs);
  const groups = [...byDelay].map(([delayMs, alerts]) => ({
    parcels: toParcels(alerts),
    ...(delayMs === undefined ? {} : { delayMs }),
  }));
  return { ...run, groups };
};

// Stage: records the deliveries in the ledger as waiting. Those that are delivered already stay delivered.

interface RecordDependencies {
  recordWaiting(parcels: readonly Parcel[]): Promise<void>;
}

export const record: DispatchStage<RecordDependencies> = async (run, { recordWaiting }) => {
  if (run.groups.length > 0) await recordWaiting(run.groups.flatMap(({ parcels }) => parcels));
  return run;
};

// Stage: one job for each parcel. From here on the alerts are durably queued.

export interface EnqueueDependencies {
  /** With `delayMs` a parcel's job waits this many milliseconds, and leaves out alerts that another alert covers by then. */
  enqueue(parcels: readonly Parcel[], nonce?: string, delayMs?: number): Promise<void>;
}

export const enqueue: DispatchStage<EnqueueDependencies> = async (run, dependencies) => {
  for (const { parcels, delayMs } of run.groups) await dependencies.enqueue(parcels, run.nonce, delayMs);
  return run;
};

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
