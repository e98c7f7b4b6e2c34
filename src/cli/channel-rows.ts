/** A protocol's channels as people are shown them: an address a row, without what may be secret in it. */
import { CHANNEL_KINDS, type ChannelEntry, type ChannelKind } from '../alert.ts';
import { quoteContact } from '../channels/address.ts';
import { addressesOf, labelOf } from '../channels/registry.ts';
import { cleanLine, shorten } from '../text.ts';

export interface ChannelRow {
  kind: string;
  /** The address's label, or what is wrong with the entry. */
  address: string;
}

const KIND_MAX = 20;

const isKind = (name: string): name is ChannelKind => CHANNEL_KINDS.some((kind) => kind === name);

const unknownRows = ({ name, contacts = [], url }: ChannelEntry): ChannelRow[] => {
  const kind = shorten(cleanLine(name), KIND_MAX) || 'unnamed';
  const addresses = [...contacts, ...(url === undefined ? [] : [url])].map(quoteContact);
  return [{ kind, address: `a kind nobody knows: ${addresses.join(', ') || 'without addresses'}` }];
};

const rowsOf = (entry: ChannelEntry): ChannelRow[] => {
  const { name: kind } = entry;
  if (!isKind(kind)) return unknownRows(entry);
  const { addresses, problems } = addressesOf(kind, entry);
  return [
    ...addresses.map((address) => ({ kind, address: labelOf(kind, address) })),
    ...problems.map((problem) => ({ kind, address: `not usable: ${problem}` })),
  ];
};

export const channelRows = (entries: readonly ChannelEntry[]): ChannelRow[] => entries.flatMap(rowsOf);

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
