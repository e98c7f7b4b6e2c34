/** The alerts of one read -> parcels -> jobs. When it resolves, every alert is durably queued or accounted for. */
import type { Alert, Destination, Parcel } from '../alert.ts';
import type { Restraint } from '../features/suppression/sort.ts';
import { toParcels } from './parcels.ts';
import type { Routes } from './routes.ts';

export interface DispatchDependencies {
  routesOf(alert: Alert): Promise<Routes>;
  /** Notes in the ledger that these are on their way; what is delivered already stays so. */
  expect(parcels: readonly Parcel[]): Promise<void>;
  /** With `unlessToldInMs` they wait so long, in milliseconds, and are not sent where they are told by then. */
  enqueue(parcels: readonly Parcel[], nonce?: string, unlessToldInMs?: number): Promise<void>;
  /** An alert that has no destination at all is dead at once: kept, counted and announced, never dropped. */
  stranded(alert: Alert, problems: readonly string[]): Promise<void>;
  onRouted?(alert: Alert, routes: Routes): void;
  /** Those of its destinations where an alert still has to be told; the others are accounted for. Default: all. */
  uncovered?(alert: Alert, destinations: readonly Destination[]): Promise<Destination[]>;
  /** Milliseconds to wait for another alert that may tell the same. Default: nothing waits. */
  waitOf?(alert: Alert): number | undefined;
  /** Begins to keep back what is muted or held. Default: nothing is. */
  restrain?(): Promise<Restraint>;
  /** Durably notes to look later whether these were accepted; before they are queued, so that a crash loses no look. */
  setDeadline?(alerts: readonly Alert[]): Promise<void>;
}

export interface Dispatch {
  /** `nonce` makes a deliberate repeat of the same alerts another job. */
  dispatch(alerts: readonly Alert[], nonce?: string): Promise<void>;
}

export const createDispatch = (dependencies: DispatchDependencies): Dispatch => ({
  dispatch: async (alerts, nonce) => {
    const { routesOf, expect, enqueue, stranded, onRouted, uncovered, setDeadline } = dependencies;
    const restraint = await dependencies.restrain?.();
    const routed: { alert: Alert; destinations: Destination[] }[] = [];
    for (const alert of alerts) {
      const routes = await routesOf(alert);
      onRouted?.(alert, routes);
      if (routes.destinations.length === 0 && !routes.skipped) await stranded(alert, routes.problems);
      const wanting = (await uncovered?.(alert, routes.destinations)) ?? routes.destinations;
      const destinations = (await restraint?.pass(alert, wanting)) ?? wanting;
      if (destinations.length > 0) routed.push({ alert, destinations });
    }
    await restraint?.end();
    await setDeadline?.(routed.map(({ alert }) => alert));
    for (const [waitMs, some] of Map.groupBy(routed, ({ alert }) => dependencies.waitOf?.(alert))) {
      const parcels = toParcels(some);
      await expect(parcels);
      await enqueue(parcels, nonce, waitMs);
    }
  },
});
