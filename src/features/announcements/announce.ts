/** Tocsin's own messages as alerts: queued, recorded and retried like any other, each once over all daemons. */
import { type Alert, type Announcement, type Destination, type JsonObject, type Parcel, TOCSIN } from '../../alert.ts';
import { toParcels } from '../../dispatch/parcels.ts';
import { alertId } from '../../item.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { ParcelQueues } from '../../queue/queues.ts';
import { iso } from '../../time.ts';

/** An entry of a list, such as an alert that a mute hid. */
export interface Listed {
  at: string;
  /** As messages say it: `CRITICAL`. */
  severity: string;
  /** From outside. */
  protocol: string;
  /** Names of detectors, from outside. */
  detectors?: string[];
  /** What it is, where no detector says so. */
  what?: string;
  /** What detectors or a notification said, in one line; from outside. */
  said?: string;
  txHash?: string;
  chainId?: string;
  /** The service's own id, where it names no transaction. */
  itemId?: string;
}

export interface AnnouncementText {
  /** The whole as plain text without secrets, the list in it. The first line stands alone, and no line begins with text from outside. */
  message: string;
  /** The message without its list. */
  lead?: string;
  listed?: readonly Listed[];
}

/** What a line of advice begins with. No text from outside stands in such a line. */
export const TO_DO = 'To do: ';

/** Of one protocol the command is whole, unless a shell would take its name for more than a name. */
export const historyOf = (all: readonly { protocol: string }[]): string => {
  const [name = ''] = all.map(({ protocol }) => protocol);
  const isWord = all.length === 1 && /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,99}$/u.test(name);
  return `tocsin protocols history ${isWord ? `"${name}"` : 'NAME'}`;
};

/** Behind `run: ` to the end of the line, or in backticks. */
const COMMANDS = /\brun: (tocsin [^`]+)$|`(tocsin [^`]+)`/g;

export const commandsIn = (message: string): string[] => [
  ...new Set(
    message
      .split('\n')
      .filter((line) => line.startsWith(TO_DO))
      .flatMap((line) => [...line.matchAll(COMMANDS)].flatMap(([, whole, quoted]) => whole ?? quoted ?? [])),
  ),
];

export interface AnnouncementInput extends AnnouncementText {
  about: Announcement;
  /** Distinguishes announcements: the same key is the same announcement. */
  key: string;
  /** The alert that it is about, below whose message it is sent, and the transaction. */
  of?: Pick<Alert, 'id' | 'txHash'>;
  /** Where none of these destinations has it in time, the fallback gets it. */
  readers?: readonly Destination['id'][] | undefined;
}

/** The parts of the text, for channels that render more than plain text. */
const partsOf = ({ message, lead, listed = [] }: AnnouncementText): JsonObject => {
  const steps = commandsIn(message);
  return {
    ...(steps.length === 0 ? {} : { steps }),
    ...(lead === undefined || listed.length === 0 ? {} : { lead, listed: listed.map((one) => ({ ...one })) }),
  };
};

export const announcementItem = ({ about, key }: Pick<AnnouncementInput, 'about' | 'key'>): string => `${about} ${key}`;

export const announcementAlert = (input: AnnouncementInput, now: number): Alert => {
  const { about, message, of } = input;
  const at = iso(now);
  const itemId = announcementItem(input);
  return {
    id: alertId(TOCSIN, 'notifications', itemId),
    source: 'notifications',
    service: TOCSIN,
    protocol: TOCSIN,
    type: `tocsin.${about}`,
    itemId,
    at,
    readAt: at,
    ...(of === undefined ? {} : { below: of.id }),
    ...(of?.txHash === undefined ? {} : { txHash: of.txHash }),
    item: { message, createdAt: at, ...partsOf(input) },
    replay: false,
  };
};

/**
 * Enqueues deliveries that no route asks for, each once over all daemons: announcements, and alerts for the fallback. Gives
 * the parcels that this call has queued; durable when it resolves. `by` names who asks. `unlessCoveredInMs`: as in
 * `queue/queues.ts`.
 */
export type EnqueueOnce = (parcels: readonly Parcel[], by: string, unlessCoveredInMs?: number) => Promise<Parcel[]>;

/**
 * The first writer (`by`) owns a delivery in the ledger, and only the owner enqueues it. The same writer may resume after
 * a crash.
 */
export const createEnqueueOnce = (
  ledger: Pick<Ledger, 'recordWaiting' | 'read'>,
  enqueue: ParcelQueues['enqueue'],
): EnqueueOnce => {
  /** Destinations at which this writer owns the delivery of an alert. */
  const ownedBy = async (id: Alert['id'], by: string): Promise<ReadonlySet<Destination['id']>> => {
    const deliveries = (await ledger.read(id))?.deliveries ?? [];
    const own = deliveries.filter((one) => one.state === 'waiting' && one.by === by);
    return new Set(own.map(({ destination }) => destination.id));
  };

  return async (parcels, by, unlessCoveredInMs) => {
    await ledger.recordWaiting(parcels, by);
    // An alert may have thousands of destinations, each with a parcel, and is read once for all of them.
    const ids = [...new Set(parcels.flatMap(({ alerts }) => alerts.map(({ id }) => id)))];
    const owned = new Map(await Promise.all(ids.map(async (id) => [id, await ownedBy(id, by)] as const)));
    const fresh = parcels
      .map(({ destination, alerts }) => ({
        destination,
        alerts: alerts.filter(({ id }) => owned.get(id)?.has(destination.id)),
      }))
      .filter(({ alerts }) => alerts.length > 0);
    await enqueue(fresh, undefined, unlessCoveredInMs);
    return fresh;
  };
};

/** Sends a message of Tocsin itself, once to each destination. `at`: epoch milliseconds. Durable when it resolves; gives the announcement's id. */
export type Announce = (
  announcement: AnnouncementInput,
  at: number,
  destinations: readonly Destination[],
) => Promise<Alert['id']>;

export const createAnnounce =
  (enqueueOnce: EnqueueOnce, setDeadline?: (alerts: readonly Alert[]) => Promise<void>): Announce =>
  async (announcement, at, destinations) => {
    const alert = announcementAlert(announcement, at);
    const { readers } = announcement;
    if (readers !== undefined) await setDeadline?.([{ ...alert, readers }]);
    await enqueueOnce(toParcels([{ alert, destinations }]), 'announcement');
    return alert.id;
  };
