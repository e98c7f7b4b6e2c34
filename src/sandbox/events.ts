/** What happens at both ends of the sandbox, in one shape each. */
import type { Received, ReceiverKind } from './receivers/received.ts';
import type { ProducedItem } from './service/state.ts';

/** The service has something new, or an inspection changed. */
export interface ProducedEvent {
  type: 'produced';
  protocol: string;
  source: 'inspections' | 'notifications';
  /** Of notifications it is the sandbox's own: they carry none on the wire. */
  id: string;
  /** Lower-case. */
  txHash?: string;
  /** Inspections only. */
  assessment?: string;
  /** Notifications only. */
  message?: string;
  /** Epoch milliseconds: when the service wrote it as it is now. */
  at: number;
}

/** A receiver accepted a message. */
export interface ReceivedEvent {
  type: 'received';
  kind: ReceiverKind;
  destination: string;
  at: number;
  text: string;
  /** The provider's id of the message. */
  id?: string;
  /** The `id` of the message that it completes: a file below its digest. */
  partOf?: string;
  /** Every inspection id in the text, each once. */
  ids: string[];
  /** Every transaction hash in the text, lower-case, each once. */
  txHashes: string[];
}

export type SandboxEvent = ProducedEvent | ReceivedEvent;

const HASH = /0x[0-9a-f]{64}(?![0-9a-f])/gi;
const ITEM_ID = /(?<![0-9a-z])[0-9a-f]{24}(?![0-9a-z])/gi;

const unique = (found: readonly string[] | null): string[] => [
  ...new Set((found ?? []).map((text) => text.toLowerCase())),
];

export const findTxHashes = (text: string): string[] => unique(text.match(HASH));

const findItemIds = (text: string): string[] => unique(text.match(ITEM_ID));

export const producedEvent = (produced: ProducedItem): ProducedEvent => {
  const { source, item } = produced;
  const shared = { type: 'produced', source, protocol: item.protocol, at: item.updatedAt } as const;
  if (produced.source === 'notifications') {
    const { id, message } = produced.item;
    const [txHash] = findTxHashes(message);
    return { ...shared, id, message, ...(txHash !== undefined && { txHash }) };
  }
  const { _id: id, txHash, assessment } = produced.item;
  return { ...shared, id, txHash: txHash.toLowerCase(), assessment };
};

export const receivedEvent = ({ kind, destination, at, text, id, partOf }: Received): ReceivedEvent => ({
  type: 'received',
  kind,
  destination,
  at,
  text,
  ...(id !== undefined && { id }),
  ...(partOf !== undefined && { partOf }),
  ids: findItemIds(text),
  txHashes: findTxHashes(text),
});
