/** What a destination has of a transaction: its inspections, each as the service assesses it now, by what the ledger says. */
import type { Alert, Destination, Standing, Standings } from '../alert.ts';
import { mapInChunks } from '../chunks.ts';
import type { AlertRecord, Ledger } from './ledger.ts';

const READ_AT_ONCE = 50;

/** Undefined where it was not sent there and will not be: it is muted or dead, or was only sent as history. */
const sentTo = ({ deliveries }: AlertRecord, { id }: Destination): { isSent: boolean } | undefined => {
  const { state, attempts = [] } = deliveries.find(({ destination }) => destination.id === id) ?? {};
  const isHistory = attempts.length > 0 && attempts.every(({ replay }) => replay === true);
  return isHistory || !(state === 'delivered' || state === 'waiting') ? undefined : { isSent: state === 'delivered' };
};

const byDate = (one: AlertRecord, other: AlertRecord): number => one.alert.readAt.localeCompare(other.alert.readAt);

/** The last follow-up counts, wherever it went. */
const assessmentOf = ({ alert: { id, type } }: AlertRecord, followUps: readonly AlertRecord[]): string | undefined => {
  const last = followUps.findLast(({ alert }) => alert.followUp?.of === id)?.alert.followUp;
  return last === undefined ? type.replace(/^inspection\./, '') : last.is;
};

const standingsIn = (records: readonly AlertRecord[], destination: Destination): Standing[] => {
  const [firsts, followUps] = [false, true].map((isFollowUp) =>
    records.filter(({ alert }) => (alert.followUp !== undefined) === isFollowUp).toSorted(byDate),
  );
  return (firsts ?? []).flatMap((record) => {
    const sent = sentTo(record, destination);
    const assessment = assessmentOf(record, followUps ?? []);
    const { id: alert, protocol } = record.alert;
    return sent === undefined
      ? []
      : [{ alert, protocol, ...(assessment === undefined ? {} : { assessment }), ...sent }];
  });
};

/** Of the transactions of these alerts, in the order in which they were read. */
export const createStandings =
  ({ byTransaction, read }: Pick<Ledger, 'byTransaction' | 'read'>) =>
  async (destination: Destination, alerts: readonly Pick<Alert, 'txHash'>[]): Promise<Standings> => {
    const found = new Map<string, Standing[]>();
    for (const txHash of new Set(alerts.flatMap(({ txHash: one }) => one ?? []))) {
      const records = await mapInChunks(await byTransaction(txHash), READ_AT_ONCE, read);
      const own = records.filter((record) => record?.alert.source === 'inspections' && record.alert.txHash === txHash);
      found.set(txHash, standingsIn(own as AlertRecord[], destination));
    }
    return found;
  };
