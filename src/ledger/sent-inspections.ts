/** What a destination has of a transaction: its inspections, each as the service assesses it now, by what the ledger says. */
import { type Alert, CHANGES, type Destination, type SentInspection, type SentInspections } from '../alert.ts';
import { mapInChunks } from '../chunks.ts';
import { followUpId } from '../item.ts';
import type { AlertRecord, Ledger } from './ledger.ts';

const READ_AT_ONCE = 50;

/** Undefined where it was not sent there and will not be: it is muted or dead, or was only sent as history. */
const sentTo = ({ deliveries }: AlertRecord, { id }: Destination): { isSent: boolean } | undefined => {
  const { state, attempts = [] } = deliveries.find(({ destination }) => destination.id === id) ?? {};
  const isHistory = attempts.length > 0 && attempts.every(({ replay }) => replay === true);
  return isHistory || !(state === 'delivered' || state === 'waiting') ? undefined : { isSent: state === 'delivered' };
};

/** More than there are second looks. */
const MOST_FOLLOW_UPS = 20;

/** Which follow-up of its alert it is: its id says so. Dates may not: they are by what is guessed of the service's clock. */
const numberOf = ({ alert: { id, type, followUp } }: AlertRecord): number => {
  const change = CHANGES.find((one) => type === `inspection.${one}`);
  if (change === undefined || followUp === undefined) return 0;
  const numbers = Array.from({ length: MOST_FOLLOW_UPS }, (_, index) => index + 1);
  return numbers.find((number) => followUpId(followUp.of, change, number) === id) ?? 0;
};

/** The last follow-up counts, wherever it went. */
const assessmentOf = ({ alert: { id, type } }: AlertRecord, records: readonly AlertRecord[]): string | undefined => {
  const own = records.filter(({ alert }) => alert.followUp?.of === id);
  const last = own.toSorted((one, other) => numberOf(one) - numberOf(other)).at(-1)?.alert.followUp;
  return last === undefined ? type.replace(/^inspection\./, '') : last.is;
};

const sentIn = (records: readonly AlertRecord[], destination: Destination): SentInspection[] => {
  const firsts = records.filter(({ alert }) => alert.followUp === undefined);
  const inOrder = firsts.toSorted((one, other) => one.alert.readAt.localeCompare(other.alert.readAt));
  return inOrder.flatMap((record) => {
    const sent = sentTo(record, destination);
    const assessment = assessmentOf(record, records);
    const { id: alert, protocol } = record.alert;
    return sent === undefined
      ? []
      : [{ alert, protocol, ...(assessment === undefined ? {} : { assessment }), ...sent }];
  });
};

/** Of the transactions of these alerts, in the order in which they were read. */
export const createSentInspections =
  ({ byTransaction, read }: Pick<Ledger, 'byTransaction' | 'read'>) =>
  async (destination: Destination, alerts: readonly Pick<Alert, 'txHash'>[]): Promise<SentInspections> => {
    const sentInspectionsOf = async (txHash: string): Promise<[string, SentInspection[]]> => {
      const records = await mapInChunks(await byTransaction(txHash), READ_AT_ONCE, read);
      const own = records.filter((record) => record?.alert.source === 'inspections' && record.alert.txHash === txHash);
      return [txHash, sentIn(own as AlertRecord[], destination)];
    };
    const hashes = new Set(alerts.flatMap(({ txHash }) => txHash ?? []));
    return new Map(await Promise.all([...hashes].map(sentInspectionsOf)));
  };
