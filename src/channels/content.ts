/**
 * What a person is told of an alert, before any markup: plain text in order of importance.
 * Every string here is cleaned of invisible characters but not escaped; each kind escapes for its own markup.
 * Items are read leniently: a field of another shape is shown as `unknown`, never a reason to fail.
 */
import type { Alert, JsonObject, JsonValue } from '../alert.ts';
import { addressLink, type Chains, transactionLink } from './chains.ts';
import { cleanLine, cleanText } from './text.ts';

export interface Detection {
  name: string;
  /** May be empty: the service allows it. */
  message: string;
}

export interface Fact {
  label: string;
  value: string;
  /** An http(s) URL of ours (an explorer), safe to link. */
  url?: string;
}

export interface Content {
  /** One line: what, where. The subject of an e-mail, the first line elsewhere. */
  headline: string;
  /** `CRITICAL`, `NOTIFICATION`, `TEST` ... */
  severity: string;
  protocol: string;
  /** Why the reader gets this although it is not new, or absent. */
  notice?: string;
  /** Detectors that fired, as the service ordered them. */
  detections: Detection[];
  /** The whole text of a stored notification. */
  message?: string;
  /** The transaction first; labels are unique. */
  facts: Fact[];
}

const UNKNOWN = 'unknown';

const text = (value: JsonValue | undefined): string => {
  if (value === undefined || value === null || value === '') return UNKNOWN;
  return cleanLine(typeof value === 'object' ? JSON.stringify(value) : String(value)) || UNKNOWN;
};

const objectOf = (value: JsonValue | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

/** The detectors that fired: any status but `notDetected` counts, also one that nobody documented. */
export const firedDetections = (item: JsonObject): Detection[] =>
  Object.entries(objectOf(item.detections))
    .map(([name, value]) => ({ name: cleanLine(name), detection: objectOf(value) }))
    .filter(({ detection }) => detection.status !== 'notDetected')
    .map(({ name, detection }) => ({
      name,
      message: typeof detection.message === 'string' ? cleanText(detection.message) : '',
    }));

const assetText = (value: JsonValue): string => {
  const { descriptor, address } = objectOf(value);
  const name = text(descriptor);
  return name === UNKNOWN ? text(address) : `${name} (${text(address)})`;
};

const assetsText = (value: JsonValue | undefined): string =>
  Array.isArray(value) && value.length > 0 ? value.map(assetText).join(', ') : UNKNOWN;

const fact = (label: string, value: string, url?: string): Fact =>
  url === undefined ? { label, value } : { label, value, url };

/** Chain ids arrive as number or string. */
const chainOf = (item: JsonObject, chains: Chains) => chains[String(item.chainId)];

const inspectionFacts = ({ item, readAt }: Alert, chains: Chains, sentAt: string): Fact[] => {
  const chain = chainOf(item, chains);
  const hash = text(item.txHash);
  const origin = text(item.txOrigin);
  return [
    fact('Transaction', hash, transactionLink(chain, hash)),
    fact('Chain', chain ? `${chain.name} (${text(item.chainId)})` : text(item.chainId)),
    fact('Origin', origin, addressLink(chain, origin)),
    fact('Method', text(item.invokedMethodName)),
    fact('Assets', assetsText(item.assets)),
    fact('Transaction time', text(item.txTimestamp)),
    fact('Inspected', text(item.createdAt)),
    fact('Read', readAt),
    fact('Sent', sentAt),
    fact('Inspection', text(item._id)),
  ];
};

const notificationFacts = ({ item, itemId, readAt }: Alert, sentAt: string): Fact[] => [
  fact('Stored', text(item.createdAt)),
  fact('Read', readAt),
  fact('Sent', sentAt),
  fact('Notification', itemId),
];

const noticeOf = (alert: Alert): { notice?: string } => {
  if (alert.type === 'test.sample') return { notice: 'This is a test. Nothing happened.' };
  return alert.replay ? { notice: 'Replay: this was found earlier and is forwarded again.' } : {};
};

const describeNotification = (alert: Alert, sentAt: string): Content => {
  const message = typeof alert.item.message === 'string' ? cleanText(alert.item.message) : text(alert.item.message);
  const protocol = cleanLine(alert.protocol);
  return {
    severity: 'NOTIFICATION',
    headline: `Notification: ${protocol}: ${cleanLine(message.split('\n', 1)[0] ?? '')}`,
    protocol,
    ...noticeOf(alert),
    detections: [],
    message,
    facts: notificationFacts(alert, sentAt),
  };
};

const severityOf = ({ type, item }: Alert): string =>
  type === 'test.sample' ? 'TEST' : text(item.assessment).toUpperCase();

const describeInspection = (alert: Alert, chains: Chains, sentAt: string): Content => {
  const detections = firedDetections(alert.item);
  const severity = severityOf(alert);
  const protocol = cleanLine(alert.protocol);
  const names = detections.map(({ name }) => name).join(', ') || 'no detector named';
  return {
    severity,
    headline: `${severity}: ${protocol}: ${names}`,
    protocol,
    ...noticeOf(alert),
    detections,
    facts: inspectionFacts(alert, chains, sentAt),
  };
};

/** Everything a person is told of one alert. Pure. */
export const describe = (alert: Alert, chains: Chains, sentAt: string): Content =>
  alert.source === 'notifications' ? describeNotification(alert, sentAt) : describeInspection(alert, chains, sentAt);

/** The link to the alert's transaction, where chain and hash allow one. */
export const alertLink = ({ item }: Alert, chains: Chains): string | undefined =>
  typeof item.txHash === 'string' ? transactionLink(chainOf(item, chains), item.txHash) : undefined;
