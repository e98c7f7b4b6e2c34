/**
 * Which mails belong together. Every client groups mails that refer to one message, so all mails of a thread refer to a
 * root that is never sent. Gmail also wants one subject: a mail that follows another has its subject, with `Re:`. So the
 * handle of a mail says both: its Message-ID and the subject of the first mail.
 */
import { type Alert, type Destination, isAnnouncement } from '../../alert.ts';
import { contentId } from '../../identity.ts';
import { cleanLine, shorten } from '../../text.ts';
import { SUBJECT_LIMIT } from './subject.ts';

/** `destination.broken` and `destination.well` are one family; what it is about is the first word of its key. */
const announcedOf = ({ type, itemId }: Alert): { family: string; about: string } => {
  const [, family = ''] = type.split('.');
  const [, about = ''] = itemId.split(' ');
  // The key of a trouble is a moment, and several troubles may be one message.
  return { family, about: family === 'trouble' ? '' : about };
};

/** A hash alone, without its chain: so a notification, which names no chain, is in the thread of its transaction. */
const subjectMatterOf = (alerts: readonly Alert[]): string[] => {
  const only = <T>(values: readonly T[]): T | undefined => (new Set(values).size === 1 ? values[0] : undefined);
  const hash = only(alerts.map(({ txHash }) => txHash));
  if (hash === undefined && alerts.every(isAnnouncement)) {
    const announced = alerts.map(announcedOf);
    return [
      'announcement',
      only(announced.map(({ family }) => family)) ?? '',
      only(announced.map(({ about }) => about)) ?? '',
    ];
  }
  return hash === undefined
    ? ['alerts', ...alerts.map(({ id, followUp }) => followUp?.of ?? id).toSorted()]
    : ['transaction', hash];
};

/** The same for all mails about one transaction, or about one thing of ours, to a mailbox. */
export const threadIdOf = (alerts: readonly Alert[], { id }: Pick<Destination, 'id'>): string =>
  `thread_${contentId('thread', ...subjectMatterOf(alerts), id)}`;

/** The mail that a thread began with, as far as later ones need it. */
export interface First {
  subject: string;
  isUrgent: boolean;
}

export interface Earlier {
  /** With its angle brackets. */
  messageId: string;
  /** Absent in the handle of an older version. */
  first?: First;
}

/** A handle comes back from Redis and goes into headers, so its form is checked. */
const HANDLE = /^(<[\w.@-]{1,250}>)(?: (high|normal) (\S.*))?$/;

/** `<id> high SUBJECT`: what later mails need of the first. */
export const handleOf = (messageId: string, { subject, isUrgent }: First): string =>
  `${messageId} ${isUrgent ? 'high' : 'normal'} ${subject}`;

/** Undefined for anything that is no handle of ours. */
export const readHandle = (handle: string): Earlier | undefined => {
  const [, messageId, importance, subject] = HANDLE.exec(handle) ?? [];
  if (messageId === undefined) return undefined;
  if (subject === undefined) return { messageId };
  return { messageId, first: { subject: shorten(cleanLine(subject), SUBJECT_LIMIT), isUrgent: importance === 'high' } };
};

/**
 * What a mail is in its thread: it goes on in the first one's name. One that is more urgent than the first begins anew, as
 * nobody may miss it below a subject that is not.
 */
export const inThread = (own: First, earlier: Earlier | undefined): { subject: string; first: First } => {
  const { first } = earlier ?? {};
  return first === undefined || (own.isUrgent && !first.isUrgent)
    ? { subject: own.subject, first: own }
    : { subject: `Re: ${first.subject}`, first };
};
