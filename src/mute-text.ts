/** A mute in words: the same in messages, in a terminal, on the status page and in the log. */
import type { Mute } from './alert.ts';
import { cleanLine } from './text.ts';

const some = (word: string, names: readonly string[]): string[] =>
  names.length === 0 ? [] : [`${word}${names.length === 1 ? '' : 's'} ${names.map(cleanLine).join(', ')}`];

/** What a mute hides: `protocol Lending Pool; detectors flashLoan, mixer`. */
export const scopeText = ({
  protocols,
  detectors,
  destinations,
}: Pick<Mute, 'protocols' | 'detectors' | 'destinations'>): string =>
  [...some('protocol', protocols), ...some('detector', detectors), ...some('destination', destinations)].join('; ');

/** A mute as the operator log names it. */
export const muteFacts = (mute: Mute) => {
  const { id, reason, author, until } = mute;
  return { mute: id, what: scopeText(mute), reason, ...(author === undefined ? {} : { author }), until };
};
