/** Which troubles are to be announced now, and which of the announced ones are over. Pure. */
import type { Trouble } from '../../trouble.ts';
import { troubleKey } from '../../trouble.ts';

/** A trouble of the list, and whether others announce it: outages and blindness announce their own. */
export interface ListedTrouble extends Trouble {
  isAnnounced: boolean;
}

/** What was announced together, until all of it is over. */
export interface ToldTrouble extends Trouble {
  /** Names the announcement: the same key is the same announcement. */
  announcement: string;
}

export interface ChangesInput {
  current: readonly ListedTrouble[];
  told: readonly ToldTrouble[];
  /** For how long a trouble was seen at every look, and an announced one at none; in milliseconds. */
  seenForMs(key: string): number;
  goneForMs(key: string): number;
  /** Whatever lasts for so long is news. */
  afterMs: number;
}

export interface Changes<Told extends ToldTrouble = ToldTrouble> {
  begun: ListedTrouble[];
  ended: Told[];
}

/** Beside one that is due, others need to last only half as long: what happens together is told together. */
const TOGETHER = 0.5;

export const changesOf = <Told extends ToldTrouble>({
  current,
  told,
  seenForMs,
  goneForMs,
  afterMs,
}: Omit<ChangesInput, 'told'> & { told: readonly Told[] }): Changes<Told> => {
  const known = new Set(told.map(troubleKey));
  const fresh = current.filter((one) => !one.isAnnounced && !known.has(troubleKey(one)));
  const seenFor = (ms: number) => fresh.filter((one) => seenForMs(troubleKey(one)) >= ms);
  const here = new Set(current.map(troubleKey));
  const gone = told.filter((one) => !here.has(troubleKey(one)));
  const goneFor = (ms: number) => gone.filter((one) => goneForMs(troubleKey(one)) >= ms);
  return {
    begun: seenFor(afterMs).length === 0 ? [] : seenFor(afterMs * TOGETHER),
    ended: goneFor(afterMs).length === 0 ? [] : goneFor(afterMs * TOGETHER),
  };
};
