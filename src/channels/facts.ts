/** An item's facts in order of importance: the transaction first, then who and how, the item's own id last. */
import type { Alert, JsonObject, JsonValue } from '../alert.ts';
import { addressLink, type Chain, type Chains, transactionLink } from './chains.ts';
import { contextFacts, methodText, notFiredText, originText } from './context.ts';
import { elapsed, objectOf, text, timeText, UNKNOWN } from './field.ts';

export interface Fact {
  label: string;
  value: string;
  /** The parts of a `value` that is a list, for a kind that gives each a line. */
  items?: string[];
  /** An http(s) URL of ours (an explorer), safe to link. */
  url?: string;
}

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
export const chainOf = (item: JsonObject, chains: Chains): Chain | undefined => {
  const id = text(item.chainId);
  return Object.hasOwn(chains, id) ? chains[id] : undefined;
};

/** The ages show a tired reader at once whether this is news or history. */
const withAges = (time: JsonValue | undefined, ...ages: (string | undefined)[]): string => {
  const known = ages.filter((age) => age !== undefined);
  return known.length === 0 ? timeText(time) : `${timeText(time)} (${known.join(', ')})`;
};

const age = (words: string, from: JsonValue | undefined, to: JsonValue | undefined): string | undefined => {
  const time = elapsed(from, to);
  return time === undefined ? undefined : `${time} ${words}`;
};

const AFTER = 'after the transaction';

const timeFacts = ({ txTimestamp, createdAt }: JsonObject, sentAt: string): Fact[] => [
  fact('Transaction time', timeText(txTimestamp)),
  fact('Inspected', withAges(createdAt, age(AFTER, txTimestamp, createdAt), age('before sending', createdAt, sentAt))),
  fact('Sent', withAges(sentAt, age(AFTER, txTimestamp, sentAt))),
];

export const inspectionFacts = (alert: Alert, chains: Chains, sentAt: string): Fact[] => {
  const { item } = alert;
  const chain = chainOf(item, chains);
  const hash = text(item.txHash);
  const origin = text(item.txOrigin);
  return [
    fact('Transaction', hash, transactionLink(chain, hash)),
    fact('Chain', chain ? `${chain.name} (${text(item.chainId)})` : text(item.chainId)),
    fact('Origin', originText(origin, alert), addressLink(chain, origin)),
    fact('Method', methodText(text(item.invokedMethodName), alert)),
    ...contextFacts(alert),
    fact('Not fired', notFiredText(item)),
    assetsFact(item.assets),
    ...timeFacts(item, sentAt),
    fact('Inspection', text(item._id)),
  ];
};

export const notificationFacts = ({ item, itemId, txHash }: Alert, sentAt: string): Fact[] => [
  ...(txHash === undefined ? [] : [fact('Transaction', text(txHash))]),
  fact('Stored', timeText(item.createdAt)),
  fact('Sent', withAges(sentAt, age('after the notification', item.createdAt, sentAt))),
  fact('Notification', text(itemId)),
];
