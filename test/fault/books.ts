/** What had to arrive and what did, and which of the doubles a fault explains. */
import { findTxHashes } from '../../src/sandbox/events.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { createReconciler, type Reconciler } from '../scenario/reconciler.ts';

/** A line is one item at one destination: `KIND DESTINATION ITEM`. */
export interface Account {
  /** Lines that had to arrive. */
  expected: number;
  lost: string[];
  doubled: string[];
  /** Of those: had arrived long before the fault began, or came first long after it was over. */
  unexplained: string[];
  /** How many messages had something that had come before, at the destination with the most of them. */
  repeats: number;
  /** The `webhook-id` of a line, where it has one. */
  identityOf(line: string): string | undefined;
  /** Webhooks of one item at one destination under several `webhook-id`s. */
  misnamed: string[];
  unexpected: string[];
}

export interface Books {
  lost(): string[];
  /** Arrivals up to now. */
  count(): number;
  arrivalsOf: Reconciler['arrivalsOf'];
  /** From now on these are not expected. */
  excuse: Reconciler['excuse'];
  /** Lines that the service knows nothing of. */
  also: Reconciler['also'];
  /** `from` and `to`: when something could be in flight, in epoch milliseconds. */
  close(from: number, to: number): Account;
}

export const openBooks = (sandbox: Sandbox): Books => {
  const reconciler = createReconciler(sandbox);
  const ids = new Map<string, Set<string>>();
  sandbox.onEvent((event) => {
    if (event.type !== 'received' || event.kind !== 'webhook' || event.id === undefined) return;
    const { data } = JSON.parse(event.text) as { data?: { inspection?: { txHash?: string } } };
    for (const item of findTxHashes(data?.inspection?.txHash ?? '')) {
      const line = `webhook ${event.destination} ${item}`;
      ids.set(line, (ids.get(line) ?? new Set()).add(event.id));
    }
  });
  const lost = (): string[] => reconciler.balance().missing;
  /** What comes at one moment is one message: a digest has many lines. */
  const repeatsOf = (doubled: readonly string[]): number => {
    const moments = new Map<string, Set<number>>();
    for (const line of doubled) {
      const destination = line.split(' ', 2).join(' ');
      const seen = moments.get(destination) ?? new Set();
      for (const at of reconciler.timesOf(line).slice(1)) seen.add(at);
      moments.set(destination, seen);
    }
    return Math.max(0, ...[...moments.values()].map(({ size }) => size));
  };
  return {
    lost,
    count: reconciler.count,
    arrivalsOf: reconciler.arrivalsOf,
    excuse: reconciler.excuse,
    also: reconciler.also,
    close: (from, to) => {
      const { missing, doubled, unexpected } = reconciler.balance();
      const isExplained = (line: string): boolean => {
        const [first = 0] = reconciler.timesOf(line);
        return first >= from && first <= to;
      };
      return {
        expected: reconciler.expected(),
        lost: missing,
        doubled,
        repeats: repeatsOf(doubled),
        unexplained: doubled.filter((line) => !isExplained(line)),
        identityOf: (line) => [...(ids.get(line) ?? [])].join(', ') || undefined,
        misnamed: [...ids].filter(([, names]) => names.size > 1).map(([line]) => line),
        unexpected,
      };
    },
  };
};
