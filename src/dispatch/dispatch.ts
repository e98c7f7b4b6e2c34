/** New alerts of one page -> destinations -> parcels -> jobs, through the stages below. */
import type { Alert, Destination, Parcel } from '../alert.ts';
import { boundItem, itemSize } from '../item.ts';
import { type RoutedAlert, toParcels } from './parcels.ts';

/** Where an alert goes, and why. */
export interface Routes {
  destinations: Destination[];
  /** Channel entries that lead nowhere, one sentence each. */
  problems: string[];
  /** Set where nothing is sent on purpose. */
  skipped?: 'trigger';
}

/** New alerts of one page on their way through the stages. */
export interface DispatchRun {
  alerts: readonly RoutedAlert[];
  /** Filled in by `pack`: parcels that become jobs `delayMs` later; absent: at once. */
  groups: readonly { parcels: Parcel[]; delayMs?: number | undefined }[];
  /** Makes a deliberate repeat of the same alerts other jobs. */
  nonce?: string;
}

export interface DispatchDependencies {
  /** Called for each alert whose item was cut. */
  onTruncated?(alert: Alert, bytes: number): void;
  /** The same alerts in the same order, with context. Never throws. Default: nothing is added. */
  withContext?(alerts: readonly Alert[]): Promise<readonly Alert[]>;
  routesOf(alert: Alert): Promise<Routes>;
  /** Ends an alert that has no destination; durable when it resolves. */
  onUnroutable(alert: Alert, problems: readonly string[]): Promise<void>;
  onRouted?(alert: Alert, routes: Routes): void;
  /** Those of its destinations where no other alert covers this one; the others are recorded as delivered. Default: all. */
  uncoveredAt?(alert: Alert, destinations: readonly Destination[]): Promise<readonly Destination[]>;
  /** Milliseconds to wait for an alert that may cover this one. Default: nothing waits. */
  delayOf?(alert: Alert): number | undefined;
  /** Each alert with the destinations that get it now; durable for the others when it resolves. Default: all get it. */
  filter?(alerts: readonly RoutedAlert[]): Promise<readonly RoutedAlert[]>;
  /** Durable when it resolves. Default: nobody checks. */
  setDeadline?(alerts: readonly Alert[]): Promise<void>;
  recordWaiting(parcels: readonly Parcel[]): Promise<void>;
  /** With `delayMs` a parcel's job waits this many milliseconds, and leaves out alerts that another alert covers by then. */
  enqueue(parcels: readonly Parcel[], nonce?: string, delayMs?: number): Promise<void>;
}

/** One step of dispatch: takes the run, does its part, and gives what goes on. */
type Stage<Needed extends keyof DispatchDependencies = keyof DispatchDependencies> = (
  run: DispatchRun,
  dependencies: Pick<DispatchDependencies, Needed>,
) => Promise<DispatchRun>;

/** Cuts items that are too large, and marks their alerts. What comes after this holds an item many times over. */
export const bound: Stage<'onTruncated'> = async (run, { onTruncated }) => {
  const alerts = run.alerts.map((one) => {
    const item = boundItem(one.alert.item);
    if (item === one.alert.item) return one;
    const alert = { ...one.alert, item, truncatedFrom: itemSize(one.alert.item) };
    onTruncated?.(alert, alert.truncatedFrom);
    return { ...one, alert };
  });
  return { ...run, alerts };
};

/** Adds to each alert what helps people to decide. */
export const enrich: Stage<'withContext'> = async (run, { withContext }) => {
  const enriched = await withContext?.(run.alerts.map(({ alert }) => alert));
  const alerts = run.alerts.map((one, index) => ({ ...one, alert: enriched?.[index] ?? one.alert }));
  return { ...run, alerts };
};

/** Finds the destinations of each alert. An alert without any is dead at once: kept, counted and announced. */
export const route: Stage<'routesOf' | 'onUnroutable' | 'onRouted'> = async (
  run,
  { routesOf, onUnroutable, onRouted },
) => {
  const alerts: RoutedAlert[] = [];
  const found = await Promise.all(run.alerts.map(async (one) => ({ one, routes: await routesOf(one.alert) })));
  for (const { one, routes } of found) {
    onRouted?.(one.alert, routes);
    if (routes.destinations.length > 0) alerts.push({ ...one, destinations: routes.destinations });
    else if (!routes.skipped) await onUnroutable(one.alert, routes.problems);
  }
  return { ...run, alerts };
};

/** Leaves out alerts that another one covers at a destination; an alert that may be covered soon has to wait. */
export const correlate: Stage<'uncoveredAt' | 'delayOf'> = async (run, { uncoveredAt, delayOf }) => {
  const alerts: RoutedAlert[] = [];
  for (const one of run.alerts) {
    const destinations = (await uncoveredAt?.(one.alert, one.destinations)) ?? one.destinations;
    const delayMs = delayOf?.(one.alert);
    if (destinations.length > 0) alerts.push({ ...one, destinations, ...(delayMs === undefined ? {} : { delayMs }) });
  }
  return { ...run, alerts };
};

/** Takes out alerts that are muted or wait for approval. Both are recorded before anything is queued. */
export const suppress: Stage<'filter'> = async (run, { filter }) => {
  if (filter === undefined || run.alerts.length === 0) return run;
  const alerts = await filter(run.alerts);
  return { ...run, alerts: alerts.filter(({ destinations }) => destinations.length > 0) };
};

/** Notes when to check whether somebody has accepted the alerts. Before they are queued: a crash loses no check. */
export const setDeadline: Stage<'setDeadline'> = async (run, dependencies) => {
  if (run.alerts.length > 0) await dependencies.setDeadline?.(run.alerts.map(({ alert }) => alert));
  return run;
};

/** One parcel for each destination. Alerts that wait for correlation have parcels of their own. */
export const pack: Stage<never> = async (run) => {
  const byDelay = Map.groupBy(run.alerts, ({ delayMs }) => delayMs);
  const groups = [...byDelay].map(([delayMs, alerts]) => ({ parcels: toParcels(alerts), delayMs }));
  return { ...run, groups };
};

/** Records the deliveries in the ledger as waiting. Those that are delivered already stay delivered. */
export const record: Stage<'recordWaiting'> = async (run, { recordWaiting }) => {
  if (run.groups.length > 0) await recordWaiting(run.groups.flatMap(({ parcels }) => parcels));
  return run;
};

/** One job for each parcel. From here on the alerts are durably queued. */
export const enqueue: Stage<'enqueue'> = async (run, dependencies) => {
  for (const { parcels, delayMs } of run.groups) await dependencies.enqueue(parcels, run.nonce, delayMs);
  return run;
};

/** In this order. */
const STAGES: readonly Stage[] = [bound, enrich, route, correlate, suppress, setDeadline, pack, record, enqueue];

/** For alerts whose destinations are known: a follow-up goes where the alert that it follows went. */
const ROUTED_STAGES: readonly Stage[] = [bound, suppress, pack, record, enqueue];

export const createDispatch = (dependencies: DispatchDependencies) => {
  const run = async (stages: readonly Stage[], alerts: readonly RoutedAlert[], nonce?: string) => {
    let current: DispatchRun = { alerts, groups: [], ...(nonce === undefined ? {} : { nonce }) };
    for (const stage of stages) current = await stage(current, dependencies);
    return current;
  };
  return {
    /** When it resolves, every alert is durably queued or accounted for. `nonce` makes a deliberate repeat other jobs. */
    dispatch: async (alerts: readonly Alert[], nonce?: string): Promise<void> => {
      const unrouted = alerts.map((alert) => ({ alert, destinations: [] }));
      await run(STAGES, unrouted, nonce);
    },
    /** The same for alerts whose destinations are known. Gives how many parcels were queued. */
    dispatchRouted: async (alerts: readonly RoutedAlert[]): Promise<number> => {
      const { groups } = await run(ROUTED_STAGES, alerts);
      return groups.reduce((sum, { parcels }) => sum + parcels.length, 0);
    },
  };
};

export type Dispatch = ReturnType<typeof createDispatch>;
