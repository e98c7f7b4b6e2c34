/** A transaction hash as people copy it from a message or a list: its beginning, perhaps with its end. */
import type { Alert } from '../../alert.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { AlertRecord } from '../../ledger/record.ts';

const SHORT = /^0x(?<head>[0-9a-f]{2,63})(?:(?:…|\.{2,3})(?<tail>[0-9a-f]{0,62}))?$/i;
const LEAST_DIGITS = 6;

export interface ShortHash {
  /** Hex digits in lower case, without 0x. */
  head: string;
  tail: string;
}

/** Undefined where the text is no such hash, or too short to mean one transaction. */
export const shortHashOf = (text: string): ShortHash | undefined => {
  const { head = '', tail = '' } = SHORT.exec(text.trim().toLowerCase())?.groups ?? {};
  const digits = head.length + tail.length;
  return digits >= LEAST_DIGITS && digits < 64 ? { head, tail } : undefined;
};

/** Whether this is the same as the whole of it. */
export const fits = ({ head, tail }: ShortHash, txHash: string): boolean =>
  txHash.toLowerCase().startsWith(`0x${head}`) && txHash.toLowerCase().endsWith(tail);

/** More alerts than this are not read: the beginning is too short to tell anything apart. */
const MOST_CANDIDATES = 500;

/** The latest alert of each transaction that a short hash may mean. */
export const createHashFinder =
  ({ ledger }: { ledger: Pick<Ledger, 'read' | 'byTransactionBeginning'> }) =>
  async (short: ShortHash): Promise<AlertRecord['alert'][]> => {
    const ids: Alert['id'][] = await ledger.byTransactionBeginning(short.head, MOST_CANDIDATES);
    const alerts = (await Promise.all(ids.map((id) => ledger.read(id)))).flatMap((record) => record?.alert ?? []);
    const found = alerts.filter(({ txHash = '' }) => fits(short, txHash)).toSorted((a, b) => a.at.localeCompare(b.at));
    return [...new Map(found.map((alert) => [alert.txHash, alert])).values()];
  };
