/** Channels of a protocol: as the operator sees them, and as the operator hands them in. */

import { z } from 'zod';
import { type ChannelKind, isChannelKind, type JsonObject, type JsonValue } from '../alert.ts';
import { webAddress, webLabel } from '../channels/address.ts';
import { addressesOf, type ChannelRow, channelRows } from '../channels/registry.ts';
import { type Breach, hideUrlTails } from '../config/problems.ts';
import { channelEntry } from '../config/sections.ts';
import type { ChannelEntry } from '../item.ts';
import { httpUrl, SECRET_MARK, URL_RULE } from '../schema/fields.ts';
import { createScrubber } from '../secret.ts';
import type { CommandContext } from './context.ts';
import type { ListKind } from './input.ts';

const scrub = createScrubber([]);

/** Where the service has channels, in a listing as in settings. */
const CHANNELS_KEY = 'notificationChannels';

/** `https://hooks.example.com (3f1c)`: a web address keeps its scheme and host, and what distinguishes it from others. */
const maskText = (text: string): string => {
  const address = webAddress(text);
  return address === undefined ? scrub(hideUrlTails(text)) : `${new URL(address).protocol}//${webLabel(address)}`;
};

/** Whether a text is what became of a web address, as `webLabel` writes it. */
const isMasked = (text: string): boolean => /^https?:\/\/[^/]+ \([0-9a-f]{4}\)$/.test(text.trim());

/** Changes every text within channels, and none outside of them. */
const mapChannels = (value: JsonValue, change: (text: string) => string, isWithin = false): JsonValue => {
  if (typeof value === 'string') return isWithin ? change(value) : value;
  if (Array.isArray(value)) return value.map((each) => mapChannels(each, change, isWithin));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.map(([key, each]) => [key, mapChannels(each, change, isWithin || key === CHANNELS_KEY)]),
  );
};

/** Hides in JSON for scripts what may be secret in channels. */
export const createChannelMask = (showSecrets: boolean, { warn }: Pick<CommandContext, 'warn'>) => {
  let isAnythingMasked = false;
  const mask = (text: string): string => {
    const masked = maskText(text);
    isAnythingMasked ||= masked !== text;
    return masked;
  };
  return {
    apply: (raw: JsonObject): JsonObject => (showSecrets ? raw : (mapChannels(raw, mask) as JsonObject)),
    /** Says on standard error that something was masked, if it was. */
    tell: (): void => {
      if (isAnythingMasked) warn("tocsin: the channels' addresses are masked; --show-secrets shows them\n");
    },
  };
};

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

const MASKED_RULE = 'is masked: print the channels with --show-secrets to hand them back';

const problemsAt = (path: Breach['path'], kind: ChannelKind, entry: Omit<ChannelEntry, 'name'>): Breach[] => {
  const named = [...(entry.contacts ?? []), ...(entry.url === undefined ? [] : [entry.url])];
  if (named.some(isMasked)) return [{ path, rule: MASKED_RULE }];
  return addressesOf(kind, { name: kind, ...entry }).problems.map((rule) => ({ path, rule }));
};

/** Its kind checks each address by itself, so that a problem has a place. */
const entryBreaches = (element: unknown, index: number): Breach[] => {
  const { name, contacts, url } = Object(element) as { name?: unknown; contacts?: unknown; url?: unknown };
  if (!isChannelKind(name)) return [];
  const named: unknown[] = Array.isArray(contacts) ? contacts : [];
  if (named.length === 0 && url === undefined) return problemsAt([index], name, {});
  return [
    ...named.flatMap((contact, at) =>
      typeof contact === 'string' && contact.trim() !== ''
        ? problemsAt([index, 'contacts', at], name, { contacts: [contact] })
        : [],
    ),
    ...(typeof url === 'string' && url.trim() !== '' ? problemsAt([index, 'url'], name, { url }) : []),
  ];
};

/** A masked address is no URL: it is named first, and what to do about it. */
const entry = channelEntry.extend({
  url: z
    .string({ error: URL_RULE })
    .refine((text) => !isMasked(text), { error: MASKED_RULE, abort: true })
    .pipe(httpUrl())
    .meta(SECRET_MARK)
    .exactOptional(),
});

/** The service's own shape, with addresses that each kind can send to. An empty list is one: a protocol without channels. */
export const CHANNELS: ListKind<ChannelEntry> = {
  what: 'channels',
  schema: z.array(entry, { error: 'must be a list of channels' }),
  breachesOf: (elements) => elements.flatMap(entryBreaches),
};
