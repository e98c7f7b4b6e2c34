/** Channel entries as people are shown them: an address a row, without what may be secret in it. */
import { CHANNEL_KINDS, type ChannelKind } from '../alert.ts';
import type { ChannelEntry } from '../item.ts';
import { cleanLine, shorten } from '../text.ts';
import { quoteContact } from './address.ts';
import { addressesOf, labelOf } from './registry.ts';

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
