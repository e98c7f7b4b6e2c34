/** Counts what a bound on the service's answers has cut off. */
import { type ServiceBound, ServiceError } from '../errors.ts';
import type { Metrics } from './metrics.ts';

export const boundOf = (error: unknown): ServiceBound | undefined =>
  error instanceof ServiceError ? error.bound : undefined;

export const createBoundCount =
  (metrics: Pick<Metrics, 'boundsReached'>) =>
  (service: string, bound: ServiceBound | undefined): void => {
    if (bound !== undefined) metrics.boundsReached.inc({ service, bound });
  };
