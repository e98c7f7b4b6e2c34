/** Stage: finds the destinations of each alert. An alert without any is dead at once: kept, counted and announced. */
import type { Alert, Destination } from '../alert.ts';
import type { DispatchStage, RoutedAlert } from './stage.ts';

/** Where an alert goes, and why. */
export interface Routes {
  destinations: Destination[];
  /** Channel entries that lead nowhere, one sentence each. */
  problems: string[];
  /** Set where nothing is sent on purpose. */
  skipped?: 'trigger';
}

export interface RouteDependencies {
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
