/** A parcel as Slack messages: one for each incident, or a digest if there are many. Pure. */
import type { Parcel } from '../../alert.ts';
import type { ComposeContext, Message } from '../channel.ts';
import { planOf, toMessage } from '../incidents.ts';
import { isHook } from './address.ts';
import type { SlackBody } from './body.ts';
import { digestBodies } from './digest.ts';
import { singleBody } from './single.ts';

/** `mayAttach`: the bot may share a file in this channel, as far as we know. */
export const composeSlack = (
  { destination, alerts }: Parcel,
  context: ComposeContext,
  mayAttach: boolean,
): Message<SlackBody>[] => {
  const withFile = mayAttach && !isHook(destination.address);
  return planOf(alerts).flatMap((plan) =>
    plan.as === 'single'
      ? [toMessage(destination, plan.alerts, singleBody(plan.alerts, context), false)]
      : digestBodies(plan.alerts, context, withFile).map(({ alerts: some, body }) =>
          toMessage(destination, some, body, true),
        ),
  );
};
