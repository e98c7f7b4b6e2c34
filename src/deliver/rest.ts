/** Stage: after a digest its destination rests, so that digests keep a distance. */
import type { SendSlots } from './send-slot.ts';
import type { MessageStage } from './stage.ts';

export interface RestDependencies {
  sendSlots: Pick<SendSlots, 'rest'>;
}

/** Parts of a digest that was refused as a whole are sent without a rest: they are late already. */
export const rest: MessageStage<RestDependencies> = async ({ message, job }, { sendSlots }) => {
  if (message.isDigest && job.attempt === 0 && job.most === undefined) await sendSlots.rest(job.destination);
  return undefined;
};
