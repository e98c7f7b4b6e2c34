/** Which of the alerts that a demo's service produced have arrived on every kind of channel. Asks only the receivers. */
import type { ProducedEvent, ReceivedEvent } from '../sandbox/events.ts';

export interface DemoSums {
  /** Criticals and stored notifications. */
  alerts: number;
  /** Of these, delivered on every kind. */
  delivered: number;
  /** Of the delivered, notifications that came with the inspection of their transaction, and not by themselves. */
  withInspection: number;
}

interface Entry {
  event: ProducedEvent;
  kinds: Set<string>;
  /** A message of its own has arrived. */
  isOwn: boolean;
}

/** Alerts are remembered until they are surely delivered; a demo may run for days. */
const REMEMBERED = 2000;

/** Letters that distinguish a text: channels escape, clean and shorten what they show. */
const LETTERS = 60;
const lettersOf = (text: string): string => text.normalize('NFKC').replace(/[^\p{L}\p{N}]+/gu, '');

const messageOf = (json: string): string => {
  try {
    const { data } = JSON.parse(json) as { data?: { notification?: { message?: unknown } } };
    return String(data?.notification?.message ?? '');
  } catch {
    return '';
  }
};

/** What a message says, as far as a notification can be found in it. */
const saidBy = ({ kind, text }: ReceivedEvent): string => lettersOf(kind === 'webhook' ? messageOf(text) : text);

export const createDemoSums = (kinds: readonly string[]) => {
  const entries = new Map<string, Entry>();
  const sums: DemoSums = { alerts: 0, delivered: 0, withInspection: 0 };

  const isComplete = (entry: Entry): boolean => kinds.every((kind) => entry.kinds.has(kind));
  const isAlong = (entry: Entry): boolean =>
    entry.event.source === 'notifications' && !entry.isOwn && isComplete(entry);

  const count = (entry: Entry, kind: string, isOwn: boolean): void => {
    const before = { delivered: isComplete(entry), withInspection: isAlong(entry) };
    entry.kinds.add(kind);
    entry.isOwn ||= isOwn;
    sums.delivered += Number(isComplete(entry)) - Number(before.delivered);
    sums.withInspection += Number(isAlong(entry)) - Number(before.withInspection);
  };

  /** The notification that a message quotes. Those with the same text are delivered one after the other. */
  const quotedIn = (event: ReceivedEvent): Entry | undefined => {
    const said = saidBy(event);
    const quoted = [...entries.values()].filter(({ event: { message = '', txHash } }) => {
      const letters = lettersOf(message).slice(0, LETTERS);
      const isThere = txHash === undefined || event.txHashes.includes(txHash);
      return letters !== '' && isThere && said.includes(letters);
    });
    return quoted.find(({ kinds: arrived }) => !arrived.has(event.kind)) ?? quoted.find(({ isOwn }) => !isOwn);
  };

  const namedIn = ({ ids, txHashes }: ReceivedEvent): Entry[] =>
    [...entries.values()].filter(
      ({ event: { id, txHash } }) => ids.includes(id) || (txHash !== undefined && txHashes.includes(txHash)),
    );

  return {
    produced: (event: ProducedEvent): void => {
      sums.alerts += 1;
      entries.set(event.id, { event, kinds: new Set(), isOwn: false });
      for (const id of entries.keys()) {
        if (entries.size <= REMEMBERED) break;
        entries.delete(id);
      }
    },
    /** Gives what the message is about; undefined where nothing that is remembered fits. */
    received: (event: ReceivedEvent): ProducedEvent | undefined => {
      const quoted = quotedIn(event);
      const named = namedIn(event);
      if (quoted) count(quoted, event.kind, true);
      for (const entry of named) count(entry, event.kind, false);
      return (quoted ?? named[0])?.event;
    },
    sums: (): DemoSums => ({ ...sums }),
  };
};
