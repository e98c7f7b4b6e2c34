/** What every receiver keeps of what it got, in one shape for all kinds. */
import { createJournal } from '../journal.ts';
import { createListeners } from '../listeners.ts';

export const RECEIVER_KINDS = ['email', 'telegram', 'slack', 'webhook'] as const;
export type ReceiverKind = (typeof RECEIVER_KINDS)[number];

/** A message that was accepted. `Raw` is the kind's own view of it. */
export interface Received<Raw = unknown> {
  kind: ReceiverKind;
  /** A mailbox, `CHAT` or `CHAT/TOPIC`, a Slack channel or webhook path, a webhook's path with its query. */
  destination: string;
  /** Epoch milliseconds. */
  at: number;
  /** Slack `ts`, Telegram message id, Message-ID, `webhook-id`. */
  id?: string;
  /** The `id` of the message that it completes: a file below its digest. */
  partOf?: string;
  /** Everything a reader can find in it, attached files included. */
  text: string;
  raw: Raw;
}

/** Any try to send, accepted or not. */
interface Attempt {
  at: number;
  destination: string;
  /** `accepted`; `refused` by a check; `limited` by a rate; `scripted` by a test. */
  outcome: 'accepted' | 'refused' | 'limited' | 'scripted';
  /** The answer in the provider's own words: a Slack error, an HTTP status, an SMTP reply. */
  code: string;
}

/** What receivers of every kind can be asked. */
export interface ReceiverView<Raw = unknown> {
  /** Accepted messages, oldest first. */
  received(): Received<Raw>[];
  attempts(): Attempt[];
  /** Forgets messages and attempts. */
  clear(): void;
  /** Called with every accepted message. Gives a function that ends it. */
  onReceived(listener: (message: Received<Raw>) => void): () => void;
}

export interface MessageStore<Raw> {
  /** Keeps an accepted message. */
  add(destination: string, message: { text: string; raw: Raw; id?: string; partOf?: string }): void;
  /** Keeps a try to send. */
  addAttempt(destination: string, outcome: Attempt['outcome'], code: string): void;
  view: ReceiverView<Raw>;
}

/** Keeps at least the last `keep` messages and attempts; default 10,000. */
export const createMessageStore = <Raw>(kind: ReceiverKind, now: () => number, keep = 10_000): MessageStore<Raw> => {
  const received = createJournal<Received<Raw>>(keep);
  const attempts = createJournal<Attempt>(keep);
  const listeners = createListeners<Received<Raw>>();
  return {
    add: (destination, message) => {
      const entry = { kind, destination, at: now(), ...message };
      received.add(entry);
      listeners.emit(entry);
    },
    addAttempt: (destination, outcome, code) => attempts.add({ at: now(), destination, outcome, code }),
    view: {
      received: received.list,
      attempts: attempts.list,
      clear: () => {
        received.clear();
        attempts.clear();
      },
      onReceived: listeners.add,
    },
  };
};
