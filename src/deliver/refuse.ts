/** Stage: deliveries to a destination that its receiver disabled die at once, before anything is sent. */
import type { Ledger } from '../ledger/ledger.ts';
import type { Disabled } from './disabled.ts';
import { DONE, type JobStage } from './stage.ts';
import { endUnsent, type UnsentDependencies } from './unsent.ts';

export interface RefuseDependencies extends UnsentDependencies {
  /** Left out: a receiver of this kind cannot disable its destination. */
  disabled?: Pick<Disabled, 'find'>;
  ledger: Pick<Ledger, 'pending' | 'recordAttempt'>;
}

export const refuse: JobStage<RefuseDependencies> = async ({ job }, dependencies) => {
  const { destination, attempt } = job;
  const found = await dependencies.disabled?.find(destination.id);
  if (found === undefined) return undefined;
  const alerts = await dependencies.ledger.pending(destination, job.alerts);
  const message = `disabled since ${found.at}, when ${found.message}; tocsin destinations enable ${destination.id}`;
  if (alerts.length > 0) await endUnsent({ destination, alerts, attempt, reason: 'disabled', message }, dependencies);
  return DONE;
};
