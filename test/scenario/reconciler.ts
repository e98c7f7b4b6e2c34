/** Compares both ends of the sandbox: what had to arrive where, and what did. */
import { findTxHashes, type ProducedEvent, type ReceivedEvent } from '../../src/sandbox/events.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { squeezed, wordsOf } from '../support/words.ts';

/** One line is one item at one destination: `KIND DESTINATION ITEM`. */
export interface Balance {
  /** Had to arrive and did not, yet. */
  missing: string[];
  /** Arrived more than once. */
  doubled: string[];
  /** Arrived and should not have, there or at all. */
  unexpected: string[];
}

export interface Reconciler {
  balance(): Balance;
  /** What arrived of an item (a transaction hash, or a notification's message), as `KIND DESTINATION`. */
  arrivalsOf(item: string): string[];
  /** When a line arrived, each time in epoch milliseconds. */
  timesOf(line: string): readonly number[];
  /** Lines that had to arrive, arrived or not. */
  expected(): number;
  /** Arrivals of all items everywhere, doubles counted. */
  count(): number;
  /** From now on nothing is expected at these destinations: every line that begins with one of the texts. */
  excuse(...beginnings: string[]): void;
  /** Of destinations that the service does not list: lines that have to arrive, that must not, and beginnings of those that may. */
  also: { must(line: string): void; mustNot(line: string): void; may(beginning: string): void };
}

/** Inspections by transaction hash, notifications by their message. */
const itemOf = ({ source, txHash, message, id }: ProducedEvent): string =>
  (source === 'inspections' ? txHash : message) ?? id;

/** A long message goes on in further ones; the first of them is booked. */
const CONTINUATION = /^\[part (?!1 )\d+ of \d+\]/;

/** What Tocsin itself says, of destinations, mutes and protocols, is no item. */
const ANNOUNCEMENT = /^(Subject: )?(\S{1,3} )?tocsin\b|^\{"type":"tocsin\./im;

/** A webhook's notification is read out of its JSON. */
const readable = ({ kind, text }: ReceivedEvent): string => {
  if (kind !== 'webhook') return text;
  const { data } = JSON.parse(text) as { data?: { notification?: { message?: string } } };
  return data?.notification?.message ?? text;
};

export const createReconciler = (sandbox: Sandbox): Reconciler => {
  const expected = new Set<string>();
  const arrived = new Map<string, number[]>();
  /** Each with its words: the message itself is cleaned before it is shown. */
  const messages = new Map<string, string[]>();
  const excused: string[] = [];
  const forbidden = new Set<string>();
  const allowed: string[] = [];
  let count = 0;

  const destinationsOf = (protocol: string): string[] => {
    const { channels = [] } = sandbox.service.protocols().find(({ name }) => name === protocol) ?? {};
    return channels.flatMap(({ name, contacts = [], url }) => [
      ...contacts.map((contact) => `${name} ${contact}`),
      ...(url === undefined ? [] : [`${name} ${new URL(url).pathname}`]),
    ]);
  };

  const note = (event: ProducedEvent): void => {
    if (event.message !== undefined) messages.set(event.message, wordsOf(event.message));
    if (event.source === 'inspections' && event.assessment !== 'critical') return;
    for (const destination of destinationsOf(event.protocol)) expected.add(`${destination} ${itemOf(event)}`);
  };

  /** A stored notification is itself, whatever transaction it names; a digest holds others beside it. */
  const itemsIn = (event: ReceivedEvent): string[] => {
    const { text, txHashes } = event;
    if (CONTINUATION.test(text) || ANNOUNCEMENT.test(text)) return [];
    const shown = readable(event);
    const mail = event.kind === 'email' ? squeezed(shown) : undefined;
    const isTold = (word: string): boolean => shown.includes(word) || (mail?.includes(squeezed(word)) ?? false);
    const told = [...messages].filter(([, words]) => words.every(isTold)).map(([each]) => each);
    const named = new Set(told.flatMap(findTxHashes));
    const others = txHashes.filter((hash) => !named.has(hash));
    if (told.length > 0) return [...told, ...others];
    return txHashes.length > 0 ? txHashes : [`unknown: ${text.slice(0, 80)}`];
  };

  sandbox.onEvent((event) => {
    if (event.type === 'produced') return note(event);
    for (const item of itemsIn(event)) {
      const line = `${event.kind} ${event.destination} ${item}`;
      // A digest names the worst itself, and its file all.
      if (event.partOf !== undefined && arrived.has(line)) continue;
      arrived.set(line, [...(arrived.get(line) ?? []), event.at]);
      count += 1;
    }
  });

  const isAllowed = (line: string): boolean => allowed.some((beginning) => line.startsWith(beginning));
  const isExcused = (line: string): boolean => excused.some((beginning) => line.startsWith(beginning));

  return {
    balance: () => ({
      missing: [...expected].filter((line) => !arrived.has(line) && !isExcused(line)),
      doubled: [...arrived].filter(([, times]) => times.length > 1).map(([line]) => line),
      unexpected: [...arrived.keys()].filter((line) => forbidden.has(line) || !(expected.has(line) || isAllowed(line))),
    }),
    arrivalsOf: (item) =>
      [...arrived.keys()].filter((line) => line.endsWith(` ${item}`)).map((line) => line.slice(0, -item.length - 1)),
    timesOf: (line) => arrived.get(line) ?? [],
    expected: () => expected.size,
    count: () => count,
    excuse: (...beginnings) => void excused.push(...beginnings),
    also: {
      must: (line) => void expected.add(line),
      mustNot: (line) => void forbidden.add(line),
      may: (beginning) => void allowed.push(beginning),
    },
  };
};
