/** A channel kind as an operator types it. */
import { CHANNEL_KINDS, type ChannelKind } from '../alert.ts';
import { oneOf } from './choice.ts';

/** Throws a `UsageError` that names the kinds. */
export const kindOf = (word: string): ChannelKind => oneOf('--channel', word, CHANNEL_KINDS);
