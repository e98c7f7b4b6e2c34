/**
 * A receiver such as PagerDuty keeps one incident for a transaction, and closes it with the last of it that is bad. Where the last
 * one died on its way there, nothing would close it: so the last good news goes there again.
 */
import type { Logger } from 'pino';
import { type Alert, type Destination, isPlayedDown, type Parcel, type SentInspections } from '../../alert.ts';
import { mapInChunks } from '../../chunks.ts';
import { contentId } from '../../item.ts';
import type { AlertRecord, Ledger } from '../../ledger/ledger.ts';
import { iso } from '../../time.ts';

interface ClosingDependencies {
  ledger: Pick<Ledger, 'byTransaction' | 'read' | 'recordWaiting'>;
  sentInspections(destination: Destination, alerts: readonly Pick<Alert, 'txHash'>[]): Promise<SentInspections>;
  keepsIncidents(destination: Destination): boolean;
  enqueue(parcels: readonly Parcel[]): Promise<void>;
  log: Pick<Logger, 'warn'>;
  now(): number;
}

const AT_ONCE = 50;

/** Its words need no item: what changed, and where. One of each is enough, however often it dies. */
const again = ({ alert }: AlertRecord, { id }: Destination, at: string): Alert => {
  const { message: _message, ...known } = alert;
  return { ...known, id: contentId('closing', alert.id, id), at, readAt: at, item: {}, replay: false };
};

/** Called with what has died at a destination. Never rejects: it has died all the same. */
export const createClosing = (dependencies: ClosingDependencies) => {
  const { ledger, sentInspections, keepsIncidents, enqueue, log, now } = dependencies;

  const close = async (destination: Destination, txHash: string): Promise<void> => {
    const all = (await sentInspections(destination, [{ txHash }])).get(txHash) ?? [];
    const isOver = all.every(({ assessment }) => assessment === undefined || assessment === 'ok');
    if (!isOver || !all.some(({ isSent }) => isSent)) return;
    const firsts = new Set(all.map(({ alert }) => alert));
    const records = await mapInChunks(await ledger.byTransaction(txHash), AT_ONCE, ledger.read);
    const isNews = (one: AlertRecord | undefined): boolean =>
      one !== undefined && isPlayedDown(one.alert) && firsts.has(one.alert.followUp?.of ?? '');
    const last = records.filter(isNews).at(-1);
    if (last === undefined) return;
    const parcels = [{ destination, alerts: [again(last, destination, iso(now()))] }];
    await ledger.recordWaiting(parcels);
    await enqueue(parcels);
  };

  return async (destination: Destination, dead: readonly Alert[]): Promise<void> => {
    if (!keepsIncidents(destination)) return;
    const found = dead.filter(({ source, followUp }) => source === 'inspections' && followUp === undefined);
    for (const txHash of new Set(found.flatMap((alert) => alert.txHash ?? []))) {
      await close(destination, txHash).catch((err: unknown) => {
        log.warn({ err, destination: destination.id }, 'an incident whose last finding died may stay open');
      });
    }
  };
};
