/** Who has acknowledged an alert, and how people read it. Pure. */
import { type Alert, isAnnouncement, isSample } from '../../alert.ts';
import { cleanLine, counted, quotedName, shorten } from '../../text.ts';
import { clockText } from '../../time.ts';

/** Somebody has seen an alert and takes care of it. */
export interface Acknowledgement {
  /** A name from outside, as `personName` leaves it. */
  by: string;
  /** Who that is for the platform, which a name does not prove. Absent where nobody proved who it was, as by a link. */
  userId?: string;
  /** The channel kind by which it came. */
  via: string;
  /** The label of the destination whose message was pressed. */
  to: string;
  /** ISO 8601. */
  at: string;
}

/** History and messages of Tocsin itself wait for nobody; a follow-up belongs to an alert that has a button. */
export const mayAcknowledge = (alert: Pick<Alert, 'type' | 'replay' | 'followUp'>): boolean =>
  !alert.replay && alert.followUp === undefined && !isAnnouncement(alert) && !isSample(alert);

const LONGEST_NAME = 40;
const LONGEST_ID = 40;

/** A name as a messenger or a form gives it. */
export const personName = (name: string, otherwise: string): string =>
  shorten(cleanLine(name).trim(), LONGEST_NAME) || otherwise;

export const personId = (id: string): string => shorten(cleanLine(id).trim(), LONGEST_ID);

/** For operators: `“Ann” (U024BE7LH)`. */
export const whoText = ({ by, userId }: { by: string; userId?: string | undefined }): string =>
  userId === undefined ? quotedName(by) : `${quotedName(by)} (${userId})`;

/** Of several the one that came first. */
export const firstOf = (known: Iterable<Acknowledgement>): Acknowledgement | undefined =>
  [...known].toSorted((a, b) => a.at.localeCompare(b.at))[0];

/** `02:45:10 UTC` */
const timeOfDay = (at: string): string => clockText(at).slice(11);

/** `Acknowledged by “Ann”, 02:45:10 UTC` */
export const acknowledgedText = ({ by, at }: Pick<Acknowledgement, 'by' | 'at'>): string =>
  `Acknowledged by ${quotedName(by)}, ${timeOfDay(at)}`;

/** To those who come later. */
export const alreadyText = ({ by, at }: Pick<Acknowledgement, 'by' | 'at'>): string =>
  `Already acknowledged by ${quotedName(by)} at ${timeOfDay(at)}.`;

/** What a message says of the acknowledgements of its `of` alerts; undefined where there is none. */
export const noteOf = (known: readonly Acknowledgement[], of: number): string | undefined => {
  const last = known.toSorted((a, b) => a.at.localeCompare(b.at)).at(-1);
  if (last === undefined) return undefined;
  return known.length >= of
    ? acknowledgedText(last)
    : `${acknowledgedText(last)}: ${counted(known.length, 'alert')} of ${of}`;
};
