/** A parcel as Slack messages: one for each incident, or a digest if there are many. Pure. */
import type { Parcel } from '../../alert.ts';
import type { Sliced } from '../../slices.ts';
import type { ComposeContext, Message } from '../channel.ts';
import { planOf, toMessage } from '../incidents.ts';
import { isHook } from './address.ts';
import type { SlackBody } from './body.ts';
import { digestBodies } from './digest.ts';
import { singleBody } from './single.ts';

/** `mayAttach`: the bot may share a file in this channel, as far as we know. */
export function* composeSlack(
  { destination, alerts }: Parcel,
  context: ComposeContext,
  mayAttach: boolean,
): Sliced<Message<SlackBody>[]> {
  const withFile = mayAttach && !isHook(destination.address);
  const messages: Message<SlackBody>[] = [];
  for (const plan of planOf(alerts)) {
    if (plan.as === 'single') {
      messages.push(toMessage(destination, plan.alerts, yield* singleBody(plan.alerts, context, withFile), false));
      continue;
    }
    for (const { alerts: some, body } of yield* digestBodies(plan.alerts, context, withFile)) {
      messages.push(toMessage(destination, some, body, true));
    }
  }
  return messages;
}
