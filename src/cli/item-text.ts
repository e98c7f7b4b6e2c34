/** Single fields of the service's items as people are shown them. */
import type { JsonObject, JsonValue } from '../alert.ts';
import { type Chains, WELL_KNOWN_CHAINS } from '../channels/chains.ts';
import type { Config } from '../config/schema.ts';
import { cleanLine, shorten } from '../text.ts';
import { clock } from '../time.ts';

/** `2026-11-20 10:07:31`, in UTC, of epoch milliseconds; undefined stays so. */
export const timeText = (at: number | undefined): string | undefined => (at === undefined ? undefined : clock(at));

const FIELD_MAX = 80;

/** A text or a number in one line that is not long; anything else is the empty text. */
export const fieldText = (value: JsonValue | undefined): string =>
  typeof value === 'string' || typeof value === 'number' ? shorten(cleanLine(String(value)), FIELD_MAX) : '';

/** The chain's name where it is known, else its id, which comes as a number or as text. */
export const createChainText = ({ chains: own }: Config): ((item: JsonObject) => string) => {
  const chains: Chains = { ...WELL_KNOWN_CHAINS, ...own };
  return ({ chainId }) => {
    const id = fieldText(chainId);
    return Object.hasOwn(chains, id) ? (chains[id]?.name ?? id) : id;
  };
};
