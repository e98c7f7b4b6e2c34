/** A mute, and its words: the same in messages, in a terminal, on the status page and in the log. */
import { cleanLine } from './text.ts';

/** Of protocols, detectors and destinations an empty list fits all; at least one of them is not empty. */
export interface Mute {
  /** `mute-HEX` by hand, `window-HEX` by the config. */
  id: string;
  /** Globs on the name. */
  protocols: readonly string[];
  /** Globs on the name. */
  detectors: readonly string[];
  /** Ids or labels. */
  destinations: readonly string[];
  reason: string;
  /** Who added it, as they said or as their machine calls them; not of windows, and not of mutes of earlier versions. */
  author?: string;
  /** ISO 8601. */
  from: string;
  /** ISO 8601; excluded. */
  until: string;
}

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
