/** A failure in words first, and in the provider's own behind them: `the channel is archived (slack.com answered is_archived)`. */
import { DeliveryError, type DeliveryFailure, type DeliveryReason, type Explanation } from '../errors.ts';

export interface Told {
  /** What the kind calls a destination: `the channel`. */
  destination: string;
  /** What the provider answered, in a sentence without secrets. */
  said: string;
  /** Of a code that needs no words, or that nobody documented, there is none. */
  explanation?: Explanation | undefined;
}

/** The failure with its message in words for people; with what the provider said alone where nothing explains it. */
export const explainedError = (
  reason: DeliveryReason,
  { destination, said, explanation }: Told,
  failure: DeliveryFailure,
): DeliveryError => {
  if (explanation === undefined) return new DeliveryError(reason, said, failure);
  const { who = destination, is } = explanation;
  return new DeliveryError(reason, `${who} ${is} (${said})`, { ...failure, explanation, said });
};
