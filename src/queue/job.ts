/**
 * The data of a parcel's job in Redis. A new field that the version before may safely overlook keeps the version; data that
 * it would read wrongly gets a higher one, and then it leaves the job alone.
 */
import {
  type Alert,
  type Destination,
  FORMATS,
  type Format,
  isChannelKind,
  isObject,
  type Parcel,
  type Reassessment,
} from '../alert.ts';
import { destinationId, parcelId } from '../item.ts';
import { fairnessKey } from './fairness.ts';

const VERSION = 4;

/** An assessment that changed: the message about it is changed to say so, once its follow-up is sent. */
export interface Reassessed extends Reassessment {
  /** The first alert's id. */
  of: string;
  txHash: string;
}

/** What is left to do at the message about a transaction. Without a change: it grew, and a reply says what is new. */
export type Afterwards = Reassessed | { txHash: string };

/** A reserved moment for a message; travels with the job that waits for it. */
export interface Slot {
  /** Epoch milliseconds. */
  at: number;
  /** How far the slots had been moved when this one was reserved. */
  shift: number;
}

/** A message's number in its round at a destination with a rate; travels with the job that waits. */
export interface Ticket {
  round: number;
  number: number;
  /** When it asks again, in epoch milliseconds. */
  at: number;
}

/** The data of one BullMQ job. */
export interface ParcelJob extends Parcel {
  v: number;
  /** How often sending was tried and counted; waiting for a send slot and our own outages are not counted. */
  attempt: number;
  /** Whose turn it takes, see `fairness.ts`. */
  fairnessKey: string;
  /** Since when the service lists that protocol, as far as that is known; ISO 8601. */
  listedSince?: string;
  /** Epoch milliseconds of the first try: retries end by age. */
  firstTriedAt?: number;
  /** Epoch milliseconds of the first `unknown` failure in a row; absent where the last failure was another. */
  unknownSince?: number | undefined;
  /** How plain the next message has to be, after `bad-message`. */
  format: Format;
  /** How many address changes it has followed. */
  moves?: number;
  /** The send slot of a wait that the provider named. */
  slot?: Slot;
  /** Its turn at a destination with a rate, and when it is likely to come, see `deliver/slot-turns.ts`. */
  ticket?: Ticket;
  /** The send slot of its sender, which other destinations share. */
  senderSlot?: Slot;
  /** How often it found no free send slot, see `deliver/send-slot.ts`. */
  misses?: number;
  /** Alerts that another alert covers there by the time the job runs are not sent. */
  unlessCovered?: true;
  /** Of a message that goes out in parts: its id, the last part's receipt, and the time that it shows as sent. */
  progress?: { id: string; format: Format; after: string; at: number };
  /** How often it waited for another job to finish the message that its alerts belong to. */
  yields?: number;
  /** How often it waited for the alert that it follows, see `deliver/job-stages.ts`. */
  waits?: number;
  /** Most alerts in a message: where a receiver refused several together, one bad alert must not take the others with it. */
  most?: number;
  /** What is left to do when everything in the job is sent; `alerts` is empty then. */
  afterwards?: Afterwards[];
  /** Its alerts were put off, as people had just heard of their transaction: now they join a batch, with others that were. */
  hasWaited?: true;
  /** The number of the batch that it sends, see `batch-store.ts`; `alerts` is empty then. */
  batchNumber?: number;
}

const shareOf = (alerts: readonly Alert[]): Pick<ParcelJob, 'fairnessKey' | 'listedSince'> => {
  const listedSince = alerts[0]?.context?.listedSince;
  return { fairnessKey: fairnessKey(alerts), ...(listedSince !== undefined && { listedSince }) };
};

export const parcelJob = (parcel: Parcel): ParcelJob => ({
  v: VERSION,
  ...parcel,
  attempt: 0,
  format: 'rich',
  ...shareOf(parcel.alerts),
});

/** `alerts`: those that open the batch. */
export const batchJob = (destination: Destination, batchNumber: number, alerts: readonly Alert[]): ParcelJob => ({
  ...parcelJob({ destination, alerts: [] }),
  ...shareOf(alerts),
  batchNumber,
});

export const batchJobId = ({ id }: Destination, batch: number): string => `batch_${id}_${batch}`;

/** Equal alerts for one destination have the same job id; a `nonce` makes a deliberate repeat another job. */
export const parcelJobId = ({ destination, alerts }: Parcel, nonce?: string): string => {
  const ids = alerts.map(({ id }) => id);
  return parcelId(destination.id, nonce === undefined ? ids : [...ids, nonce]);
};

/** Texts of an alert that everything after the queue relies on. */
const ALERT_TEXTS = ['id', 'source', 'service', 'protocol', 'type', 'itemId', 'at', 'readAt'] as const;

const isAlert = (value: unknown): boolean =>
  isObject(value) && isObject(value.item) && ALERT_TEXTS.every((key) => typeof value[key] === 'string');

const isDestination = (value: unknown): boolean => {
  if (!isObject(value) || typeof value.label !== 'string' || typeof value.address !== 'string') return false;
  const { kind, address, id } = value;
  return isChannelKind(kind) && id === destinationId(kind, address);
};

/** By field; those that may be absent count only where they are there. */
const FITS: Readonly<Record<string, (value: unknown) => boolean>> = {
  destination: isDestination,
  alerts: (value) => Array.isArray(value) && value.every(isAlert),
  attempt: (value) => Number.isSafeInteger(value) && Number(value) >= 0,
  fairnessKey: (value) => typeof value === 'string',
  listedSince: (value) => value === undefined || typeof value === 'string',
  format: (value) => FORMATS.some((format) => format === value),
  ...Object.fromEntries(
    ['firstTriedAt', 'unknownSince', 'moves', 'misses', 'yields', 'waits', 'most', 'batchNumber'].map((key) => [
      key,
      (value: unknown) => value === undefined || Number.isFinite(value),
    ]),
  ),
};

/**
 * A job's data; its version where this daemon does not know it, as another one will; or the field that Tocsin would never
 * write so: somebody else has written it. Who writes into Redis can still make up data that fits.
 */
export const readParcelJob = (data: unknown): ParcelJob | { unknownVersion: string } | { flaw: string } => {
  const written = isObject(data) ? data : {};
  if (written.v !== VERSION) return { unknownVersion: String(written.v).slice(0, 20) };
  const flaw = Object.keys(FITS).find((key) => FITS[key]?.(written[key]) !== true);
  return flaw === undefined ? (data as ParcelJob) : { flaw };
};
