/** The words about what cannot be read, and what is read again. Pure. */
import { capital, cleanLine, countedInWords, namesText, serviceText, shorten } from '../../text.ts';
import { ageText, clockText } from '../../time.ts';
import { TO_DO } from '../announcements/announce.ts';

interface Subject {
  service: string;
  /** None: the service as a whole. */
  protocols: readonly string[];
  since: string;
  /** A sentence without secrets, where it is known. */
  reason?: string | undefined;
}

const NAMED = 10;
const LONGEST_REASON = 300;

const theyAre = (names: readonly string[]): string[] =>
  names.length > 1 ? [`They are ${namesText(names, NAMED)}.`] : [];

const subjectText = ({ service, protocols }: Subject): string => {
  if (protocols.length === 0) return capital(serviceText(service));
  const which = protocols.length === 1 ? `The protocol ${namesText(protocols)}` : `${protocols.length} protocols`;
  return `${which} at ${serviceText(service)}`;
};

const reasonText = ({ reason }: Subject): string =>
  reason === undefined ? '.' : `: ${shorten(cleanLine(reason), LONGEST_REASON).replace(/\.+$/, '')}.`;

/** `watched`: protocols in all. */
export const unreadText = (subject: Subject & { watched: number }): string => {
  const { protocols, since, watched } = subject;
  const what =
    protocols.length === 0
      ? `No alert of its ${countedInWords(watched, 'protocol')} can be found meanwhile.`
      : `No alert of them can be found meanwhile; ${countedInWords(watched - protocols.length, 'other is', 'others are')} read.`;
  return [
    `${subjectText(subject)} cannot be read${reasonText(subject)}`,
    ...theyAre(protocols),
    `Since ${clockText(since)}. ${watched === 0 ? 'It was never listed, so none of its protocols is watched.' : what} As soon as it answers again, what was missed is read: those alerts come late, and none is lost.`,
    `${TO_DO}see whether the service answers and accepts the API key; if it is down, ask the people who run it. To see what it answers, run: tocsin check --online`,
  ].join('\n');
};

/** A count that stopped at its bound. */
export interface CaughtUp {
  alerts: number;
  isBound: boolean;
}

/** `gone`: those of `protocols` that the service does not list any more. */
type ReadAgainInput = Subject & { gone: number; forMs: number; caughtUp: CaughtUp };

const caughtUpText = ({ alerts, isBound }: CaughtUp): string => {
  if (alerts === 0) return 'Nothing to alert about was written meanwhile. Nothing has to be done.';
  return `What was missed is read now: ${isBound ? 'more than ' : ''}${countedInWords(alerts, 'alert')} of that time. ${alerts === 1 ? 'It comes' : 'They come'} late.`;
};

export const readAgainText = (input: ReadAgainInput): string => {
  const { protocols, gone, since, forMs } = input;
  const isGone = gone > 0 && gone === protocols.length;
  const how = isGone ? 'no longer listed' : 'read again';
  return [
    `${subjectText(input)} ${protocols.length > 1 ? 'are' : 'is'} ${how}.`,
    ...theyAre(protocols),
    `It could not be read for ${ageText(forMs)}, since ${clockText(since)}${reasonText(input)}`,
    ...(isGone ? [] : [caughtUpText(input.caughtUp)]),
  ].join('\n');
};
