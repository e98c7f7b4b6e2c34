/** What a parcel looks like while it waits in Redis. The version lets a newer daemon read what an older one wrote. */
import { type Destination, type Parcel, parcelId } from '../alert.ts';
import type { Format } from '../channels/channel.ts';

const VERSION = 1;

/** The data of one BullMQ job. */
export interface ParcelJob extends Parcel {
  v: typeof VERSION;
  /** How often sending was tried and charged to the destination; waiting for a slot and our own outages are not. */
  attempt: number;
  /** Epoch milliseconds of the first try: retries go on by age. */
  firstTriedAt?: number;
  /** Likewise of the first of the answers that nobody documented; absent where the last one was none. */
  unknownSince?: number | undefined;
  /** How plain the next message has to be, after `bad-message`. */
  format: Format;
  /** How often the destination said that it moved. */
  moves?: number;
  /** Reserved for this job and not used yet: `at` in epoch milliseconds, see `deliver/slots.ts`. */
  slot?: { at: number; shift: number };
  /** The same of the sender that its destination shares with others. */
  senderSlot?: { at: number; shift: number };
  /** Nothing is sent that another alert has told there by the time the job runs. */
  unlessTold?: true;
  /** A message of it that goes out in parts: which, what its last receipt said, and the time that it shows as sent. */
  progress?: { id: string; format: Format; after: string; at: number };
  /** How often it let another job finish the message that its alerts belong to. */
  yields?: number;
  /** Alerts a message may tell at most: where several were refused together, the rest must not die with one of them. */
  most?: number;
  /** Tells what was gathered for the destination under this number, see `queue/backlog.ts`; `alerts` is empty then. */
  gathering?: number;
}

export const parcelJob = (parcel: Parcel): ParcelJob => ({ v: VERSION, ...parcel, attempt: 0, format: 'rich' });

export const batchJob = (destination: Destination, gathering: number): ParcelJob => ({
  ...parcelJob({ destination, alerts: [] }),
  gathering,
});

export const batchJobId = ({ id }: Destination, gathering: number): string => `gathering_${id}_${gathering}`;

/** The same alerts for the same destination are the same job; a `nonce` makes a deliberate repeat another one. */
export const parcelJobId = ({ destination, alerts }: Parcel, nonce?: string): string => {
  const ids = alerts.map(({ id }) => id);
  return parcelId(destination.id, nonce === undefined ? ids : [...ids, nonce]);
};

/** Reads a job's data. Throws where it was written by a version this one does not know. */
export const readParcelJob = (data: unknown): ParcelJob => {
  const version = (data as Partial<ParcelJob> | null)?.v;
  if (version !== VERSION) throw new Error(`a parcel of version ${String(version)}: this daemon reads ${VERSION}`);
  return data as ParcelJob;
};
