/** Tells receivers that keep incidents, such as PagerDuty, of each transaction that somebody has acknowledged. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import { mapInChunks } from '../../chunks.ts';
import type { AlertRecord } from '../../ledger/record.ts';
import type { Announce } from '../announcements/announce.ts';
import type { AcknowledgementParts } from './store.ts';
import { type Acknowledgement, acknowledgedText } from './words.ts';

interface ReceiversDependencies extends Pick<AcknowledgementParts, 'ledger' | 'isOpen'> {
  announce: Announce;
  keepsIncidents(destination: Destination): boolean;
  /** Where alerts of its protocol may go now: the ledger has no addresses. */
  destinationsOf(alert: Pick<Alert, 'service' | 'protocol'>): Promise<Destination[]>;
  log: Pick<Logger, 'warn'>;
}

const AT_ONCE = 50;

/** It has the alert, or is about to get it: the news then waits for it. */
const has = ({ deliveries }: AlertRecord, { id }: Destination): boolean =>
  deliveries.some(({ destination, state }) => destination.id === id && (state === 'delivered' || state === 'waiting'));

/** Never rejects: that somebody acknowledged holds without it. */
export const createTellReceivers = (dependencies: ReceiversDependencies) => {
  const { ledger, announce, isOpen, keepsIncidents, destinationsOf, log } = dependencies;

  /** The same transaction may be of several protocols, with receivers of their own. */
  const receiversOf = async (records: readonly AlertRecord[]): Promise<Destination[]> => {
    const mayHear = await isOpen();
    const found = new Map<Destination['id'], Destination>();
    for (const record of records) {
      for (const one of await destinationsOf(record.alert))
        if (keepsIncidents(one) && mayHear(one) && has(record, one)) found.set(one.id, one);
    }
    return [...found.values()];
  };

  const tell = async (ids: readonly Alert['id'][], by: Acknowledgement): Promise<void> => {
    const records = (await mapInChunks(ids, AT_ONCE, ledger.read)).filter((record) => record !== undefined);
    const incidents = Map.groupBy(records, ({ alert: { id, txHash } }) => txHash ?? id);
    await mapInChunks([...incidents.values()], AT_ONCE, async (same) => {
      const destinations = await receiversOf(same);
      const of = same[0]?.alert;
      if (of === undefined || destinations.length === 0) return;
      // An alert is acknowledged once, so it names the news.
      const news = { about: 'alert.acknowledged' as const, key: `${of.id} incident`, message: acknowledgedText(by) };
      await announce({ ...news, of }, Date.parse(by.at), destinations);
    });
  };

  return (ids: readonly Alert['id'][], by: Acknowledgement): Promise<void> =>
    tell(ids, by).catch((error: unknown) => {
      log.warn({ err: error, alert: ids[0] }, 'receivers may not hear who acknowledged an alert');
    });
};
