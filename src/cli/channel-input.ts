/** Channels as the operator hands them in: the service's own shape, with addresses that each kind can send to. */
import { z } from 'zod';
import { CHANNEL_KINDS, type ChannelKind } from '../alert.ts';
import { addressesOf } from '../channels/registry.ts';
import type { Breach } from '../config/breach.ts';
import { channelEntry } from '../config/sections.ts';
import type { ChannelEntry } from '../item.ts';
import { httpUrl, SECRET_MARK, URL_RULE } from '../schema/fields.ts';
import { isMasked } from './channel-mask.ts';
import type { ListKind } from './input.ts';

const isKind = (name: unknown): name is ChannelKind => CHANNEL_KINDS.some((kind) => kind === name);

const MASKED_RULE = 'is masked: print the channels with --show-secrets to hand them back';

const problemsAt = (path: Breach['path'], kind: ChannelKind, entry: Omit<ChannelEntry, 'name'>): Breach[] => {
  const named = [...(entry.contacts ?? []), ...(entry.url === undefined ? [] : [entry.url])];
  if (named.some(isMasked)) return [{ path, rule: MASKED_RULE }];
  return addressesOf(kind, { name: kind, ...entry }).problems.map((rule) => ({ path, rule }));
};

/** Its kind checks each address by itself, so that a problem has a place. */
const entryBreaches = (element: unknown, index: number): Breach[] => {
  const { name, contacts, url } = Object(element) as { name?: unknown; contacts?: unknown; url?: unknown };
  if (!isKind(name)) return [];
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

/** An empty list is one: a protocol without channels. */
export const CHANNELS: ListKind<ChannelEntry> = {
  what: 'channels',
  schema: z.array(entry, { error: 'must be a list of channels' }),
  breachesOf: (elements) => elements.flatMap(entryBreaches),
};
