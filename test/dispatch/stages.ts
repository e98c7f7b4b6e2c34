/** Runs of dispatch for the tests of single stages. */
import type { Destination } from '../../src/alert.ts';
import type { DispatchRun } from '../../src/dispatch/dispatch.ts';
import type { RoutedAlert } from '../../src/dispatch/parcels.ts';
import { destinationOf } from '../support/alerts.ts';
import { makeAlert } from '../support/numbered.ts';

export const MAIL = destinationOf('email', 'a@example.com');
export const SLACK = destinationOf('slack', 'C1');

/** The numbered alert on its way to these destinations. */
export const routed = (n: number, ...destinations: Destination[]): RoutedAlert => ({
  alert: makeAlert(n),
  destinations,
});

export const runOf = (...alerts: RoutedAlert[]): DispatchRun => ({ alerts, groups: [] });

/** Item ids, each with the kinds of the destinations that are left. */
export const left = ({ alerts }: DispatchRun): [string, string[]][] =>
  alerts.map(({ alert, destinations }) => [alert.itemId, destinations.map(({ kind }) => kind)]);
