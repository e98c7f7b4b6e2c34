/** A channel kind as an operator types it. */
import { CHANNEL_KINDS, type ChannelKind } from '../alert.ts';
import { didYouMean } from '../config/suggest.ts';
import { UsageError } from '../errors.ts';

/** Throws a `UsageError` that names the kinds. */
export const kindOf = (word: string): ChannelKind => {
  const kind = CHANNEL_KINDS.find((known) => known === word);
  if (kind !== undefined) return kind;
  const near = didYouMean(word, CHANNEL_KINDS);
  throw new UsageError(`--channel must be one of ${CHANNEL_KINDS.join(', ')} (got '${word}')${near}`);
};
