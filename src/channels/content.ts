/**
 * What people read about an alert, before any markup: plain text in order of importance.
 * Every string here is cleaned of invisible characters but not escaped; each kind escapes for its own markup.
 * Items are read leniently: a field of another shape is shown as `unknown` and never makes this fail.
 */
import { type Alert, type FollowUp, hasFired, isAnnouncement, isSample, type JsonObject } from '../alert.ts';
import { LARGEST_ITEM } from '../item-size.ts';
import { cleanLine, cleanText } from '../text.ts';
import { type Chains, transactionLink } from './chains.ts';
import { chainOf, type Fact, inspectionFacts, notificationFacts } from './facts.ts';
import { objectOf, text, UNKNOWN } from './field.ts';
import { assessmentWord, followUpWords } from './follow-up.ts';

export type { Fact } from './facts.ts';
export { UNKNOWN } from './field.ts';

export interface Detection {
  name: string;
  /** May be empty: the service allows it. */
  message: string;
}

/** `flashLoan: A flash loan of 4 tokens`, or the name alone. */
export const detectionText = ({ name, message }: Detection): string => (message === '' ? name : `${name}: ${message}`);

export interface Content {
  /** What and where, in one line: the subject of an e-mail, the text of a push message. */
  headline: string;
  /** The headline for a place where `message` follows: without the message's first line. */
  title: string;
  /** `CRITICAL`, `NOTIFICATION`, `FOLLOW-UP`, `TEST` ... */
  severity: string;
  protocol: string;
  /** Why the reader gets this in an unusual way or again; absent otherwise. */
  notice?: string;
  /** Detectors that fired, as the service ordered them. */
  detections: Detection[];
  /** The whole text of a stored notification. */
  message?: string;
  /** The transaction first, the item's own id last; labels are unique. */
  facts: Fact[];
}

/** The detectors that fired: those of every status but `notDetected`, even an undocumented one. */
export const firedDetections = (item: JsonObject): Detection[] =>
  Object.entries(objectOf(item.detections))
    .map(([name, value]) => ({ name: cleanLine(name) || 'unnamed detector', detection: objectOf(value) }))
    .filter(({ detection }) => hasFired(detection))
    .map(({ name, detection }) => ({
      name,
      message: typeof detection.message === 'string' ? cleanText(detection.message) : '',
    }));

/** Why there is less to read than the service has. */
export const truncatedText = ({ truncatedFrom }: Pick<Alert, 'truncatedFrom'>): string[] =>
  truncatedFrom === undefined
    ? []
    : [`Only a part of it is here: the service gave ${truncatedFrom} bytes, and ${LARGEST_ITEM} of an item are kept.`];

const noticeOf = (alert: Alert): { notice?: string } => {
  if (isSample(alert)) return { notice: 'This is a test. Nothing happened.' };
  const replay = alert.replay ? ['Replay: this was found earlier and is forwarded again.'] : [];
  const notices = [
    ...(alert.notice === undefined ? [] : [cleanLine(alert.notice)]),
    ...truncatedText(alert),
    ...replay,
  ];
  return notices.length > 0 ? { notice: notices.join(' ') } : {};
};

/** A replay must not wake anybody as if it were news, so the first line says `(replay)`. */
const marked = (word: string, alert: Alert): string => (alert.replay && !isSample(alert) ? `${word} (replay)` : word);

/** The severity of an alert whose item is a text. */
const notificationWord = (alert: Alert): string => {
  if (isSample(alert)) return 'TEST';
  return isAnnouncement(alert) ? 'TOCSIN' : 'NOTIFICATION';
};

const describeNotification = (alert: Alert, sentAt: string): Content => {
  const severity = notificationWord(alert);
  const message = typeof alert.item.message === 'string' ? cleanText(alert.item.message) : text(alert.item.message);
  const protocol = text(alert.protocol);
  const title = isAnnouncement(alert)
    ? severity
    : `${marked(severity === 'TEST' ? severity : 'Notification', alert)}: ${protocol}`;
  const firstLine = cleanLine(message.split('\n', 1)[0] ?? '');
  return {
    severity,
    headline: firstLine === '' ? title : `${title}: ${firstLine}`,
    title,
    protocol,
    ...noticeOf(alert),
    detections: [],
    message: message || UNKNOWN,
    facts: notificationFacts(alert, sentAt),
  };
};

const severityOf = (alert: Alert): string =>
  isSample(alert) ? 'TEST' : assessmentWord(text(alert.item.assessment)).toUpperCase();

/** The facts that identify the inspection; the first message had the others. */
const FOLLOWED = new Set(['Transaction', 'Chain', 'Sent', 'Inspection']);

const describeFollowUp = (alert: Alert, followUp: FollowUp, chains: Chains, sentAt: string): Content => {
  const { news, notice } = followUpWords(followUp);
  const protocol = text(alert.protocol);
  const headline = `${marked('FOLLOW-UP', alert)}: ${protocol}: ${news}`;
  return {
    severity: 'FOLLOW-UP',
    headline,
    title: headline,
    protocol,
    notice: [...(alert.notice === undefined ? [] : [cleanLine(alert.notice)]), notice].join(' '),
    detections: [],
    facts: inspectionFacts(alert, chains, sentAt).filter(({ label }) => FOLLOWED.has(label)),
  };
};

const describeInspection = (alert: Alert, chains: Chains, sentAt: string): Content => {
  const detections = firedDetections(alert.item);
  const severity = severityOf(alert);
  const protocol = text(alert.protocol);
  const names = detections.map(({ name }) => name).join(', ') || 'no detector named';
  const headline = `${marked(severity, alert)}: ${protocol}: ${names}`;
  return {
    severity,
    headline,
    title: headline,
    protocol,
    ...noticeOf(alert),
    detections,
    facts: inspectionFacts(alert, chains, sentAt),
  };
};

/** Everything that people read about one alert. Pure. */
export const describe = (alert: Alert, chains: Chains, sentAt: string): Content => {
  if (alert.followUp) return describeFollowUp(alert, alert.followUp, chains, sentAt);
  return alert.source === 'notifications'
    ? describeNotification(alert, sentAt)
    : describeInspection(alert, chains, sentAt);
};

/** The link to the alert's transaction, where chain and hash allow one. */
export const alertLink = ({ item }: Alert, chains: Chains): string | undefined =>
  typeof item.txHash === 'string' ? transactionLink(chainOf(item, chains), item.txHash) : undefined;
