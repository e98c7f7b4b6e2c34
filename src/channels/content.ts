/**
 * What a person is told of an alert, before any markup: plain text in order of importance.
 * Every string here is cleaned of invisible characters but not escaped; each kind escapes for its own markup.
 * Items are read leniently: a field of another shape is shown as `unknown`, never a reason to fail.
 */
import { type Alert, type FollowUp, hasFired, isAnnouncement, type JsonObject, type JsonValue } from '../alert.ts';
import { addressLink, type Chain, type Chains, transactionLink } from './chains.ts';
import { assessmentWord, followUpWords } from './follow-up.ts';
import { cleanLine, cleanText } from './text.ts';

export interface Detection {
  name: string;
  /** May be empty: the service allows it. */
  message: string;
}

export interface Fact {
  label: string;
  value: string;
  /** The parts of a `value` that is a list, for a kind that gives each a line. */
  items?: string[];
  /** An http(s) URL of ours (an explorer), safe to link. */
  url?: string;
}

export interface Content {
  /** One line that stands alone: what, where. The subject of an e-mail, the text of a push message. */
  headline: string;
  /** The headline for a place where `message` follows anyway. */
  title: string;
  /** `CRITICAL`, `NOTIFICATION`, `FOLLOW-UP`, `TEST` ... */
  severity: string;
  protocol: string;
  /** Why the reader gets this although it is nothing new, or absent. */
  notice?: string;
  /** Detectors that fired, as the service ordered them. */
  detections: Detection[];
  /** The whole text of a stored notification. */
  message?: string;
  /** The transaction first, the item's own id last; labels are unique. */
  facts: Fact[];
}

export const UNKNOWN = 'unknown';

const text = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null || value === '') return UNKNOWN;
  return cleanLine(typeof value === 'object' ? JSON.stringify(value) : String(value)) || UNKNOWN;
};

const objectOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d/;

/** Milliseconds since 1970 of an ISO 8601 date-time, or NaN. */
const timeOf = (value: JsonValue | undefined): number =>
  typeof value === 'string' && DATE_TIME.test(value) ? Date.parse(value) : Number.NaN;

/** `2026-11-20 10:07:31 UTC`; what is no ISO 8601 date-time is shown as it came. */
const timeText = (value: JsonValue | undefined): string => {
  const time = timeOf(value);
  return Number.isNaN(time) ? text(value) : `${new Date(time).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
};

const UNITS = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
] as const;

/** `sentAt`, and how old the event was by then: at night that tells news from history. */
const sentText = (sentAt: string, event: string, happenedAt: JsonValue | undefined): string => {
  const ageSeconds = Math.floor((timeOf(sentAt) - timeOf(happenedAt)) / 1000);
  const [size, unit] = UNITS.find(([seconds]) => ageSeconds >= seconds) ?? [1, 's'];
  return ageSeconds >= 0
    ? `${timeText(sentAt)} (${Math.floor(ageSeconds / size)} ${unit} after the ${event})`
    : timeText(sentAt);
};

/** The detectors that fired: any status but `notDetected` counts, also one that nobody documented. */
export const firedDetections = (item: JsonObject): Detection[] =>
  Object.entries(objectOf(item.detections))
    .map(([name, value]) => ({ name: cleanLine(name) || 'unnamed detector', detection: objectOf(value) }))
    .filter(({ detection }) => hasFired(detection))
    .map(({ name, detection }) => ({
      name,
      message: typeof detection.message === 'string' ? cleanText(detection.message) : '',
    }));

const assetText = (value: JsonValue): string => {
  const { descriptor, address } = objectOf(value);
  const name = text(descriptor);
  return name === UNKNOWN ? text(address) : `${name} (${text(address)})`;
};

const fact = (label: string, value: string, url?: string): Fact =>
  url === undefined ? { label, value } : { label, value, url };

const assetsFact = (assets: JsonValue | undefined): Fact => {
  const items = Array.isArray(assets) ? assets.map(assetText) : [];
  return items.length > 1 ? { ...fact('Assets', items.join(', ')), items } : fact('Assets', items[0] ?? UNKNOWN);
};

/** Chain ids arrive as number or string. */
const chainOf = (item: JsonObject, chains: Chains): Chain | undefined => {
  const id = text(item.chainId);
  return Object.hasOwn(chains, id) ? chains[id] : undefined;
};

const inspectionFacts = ({ item }: Alert, chains: Chains, sentAt: string): Fact[] => {
  const chain = chainOf(item, chains);
  const hash = text(item.txHash);
  const origin = text(item.txOrigin);
  return [
    fact('Transaction', hash, transactionLink(chain, hash)),
    fact('Chain', chain ? `${chain.name} (${text(item.chainId)})` : text(item.chainId)),
    fact('Origin', origin, addressLink(chain, origin)),
    fact('Method', text(item.invokedMethodName)),
    assetsFact(item.assets),
    fact('Transaction time', timeText(item.txTimestamp)),
    fact('Inspected', timeText(item.createdAt)),
    fact('Sent', sentText(sentAt, 'transaction', item.txTimestamp)),
    fact('Inspection', text(item._id)),
  ];
};

const notificationFacts = ({ item, itemId, txHash }: Alert, sentAt: string): Fact[] => [
  ...(txHash === undefined ? [] : [fact('Transaction', text(txHash))]),
  fact('Stored', timeText(item.createdAt)),
  fact('Sent', sentText(sentAt, 'notification', item.createdAt)),
  fact('Notification', text(itemId)),
];

const isSample = ({ type }: Alert): boolean => type === 'test.sample';

const noticeOf = (alert: Alert): { notice?: string } => {
  if (isSample(alert)) return { notice: 'This is a test. Nothing happened.' };
  const replay = alert.replay ? ['Replay: this was found earlier and is forwarded again.'] : [];
  const notices = [...(alert.notice === undefined ? [] : [cleanLine(alert.notice)]), ...replay];
  return notices.length > 0 ? { notice: notices.join(' ') } : {};
};

/** A replay must not wake anybody as news, so the first line says it too. */
const marked = (word: string, alert: Alert): string => (alert.replay && !isSample(alert) ? `${word} (replay)` : word);

/** The word that a stored text comes under. */
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

/** Which inspection it is about; people have the rest already. */
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
    notice,
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

/** Everything a person is told of one alert. Pure. */
export const describe = (alert: Alert, chains: Chains, sentAt: string): Content => {
  if (alert.followUp) return describeFollowUp(alert, alert.followUp, chains, sentAt);
  return alert.source === 'notifications'
    ? describeNotification(alert, sentAt)
    : describeInspection(alert, chains, sentAt);
};

/** The link to the alert's transaction, where chain and hash allow one. */
export const alertLink = ({ item }: Alert, chains: Chains): string | undefined =>
  typeof item.txHash === 'string' ? transactionLink(chainOf(item, chains), item.txHash) : undefined;
