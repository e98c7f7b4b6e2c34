/** Stage: deliveries to a destination that its receiver disabled die at once, before anything is sent. */
import { DONE, type JobStage } from './stage.ts';
import { endUnsent, type UnsentDependencies } from './unsent.ts';

export const refuse: JobStage<UnsentDependencies> = async ({ job, alerts, disabled }, dependencies) => {
  if (disabled === undefined) return undefined;
  const { destination, attempt } = job;
  const message = `disabled since ${disabled.at}, when ${disabled.message}; tocsin destinations enable ${destination.id}`;
  if (alerts.length > 0) await endUnsent({ destination, alerts, attempt, reason: 'disabled', message }, dependencies);
  return DONE;
};
