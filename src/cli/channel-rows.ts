/** A protocol's channels in short, and how a command would change them. */

import { type ChannelRow, channelRows } from '../channels/rows.ts';
import type { ChannelEntry } from '../item.ts';

/** `email 2, slack 1`: addresses by kind. */
export const channelSummary = (entries: readonly ChannelEntry[]): string => {
  const counts = Map.groupBy(channelRows(entries), ({ kind }) => kind);
  return [...counts].map(([kind, rows]) => `${kind} ${rows.length}`).join(', ') || 'none';
};

const lineOf = (sign: string, { kind, address }: ChannelRow): string => `${sign} ${kind.padEnd(8)}  ${address}`;

/** Addresses that are removed (`-`), stay (`=`) or are added (`+`), a line each. */
export const channelChanges = (before: readonly ChannelEntry[], after: readonly ChannelEntry[]): string[] => {
  const keyOf = ({ kind, address }: ChannelRow): string => `${kind} ${address}`;
  const old = channelRows(before);
  const now = channelRows(after);
  const oldKeys = new Set(old.map(keyOf));
  const nowKeys = new Set(now.map(keyOf));
  return [
    ...old.filter((row) => !nowKeys.has(keyOf(row))).map((row) => lineOf('-', row)),
    ...now.filter((row) => oldKeys.has(keyOf(row))).map((row) => lineOf('=', row)),
    ...now.filter((row) => !oldKeys.has(keyOf(row))).map((row) => lineOf('+', row)),
  ];
};
