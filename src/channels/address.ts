/** Web addresses in channel entries. The path of one is often its only secret, so it is never shown. */
import { createHash } from 'node:crypto';
import type { ChannelKind } from '../alert.ts';
import { createScrubber } from '../secret.ts';
import { cleanLine, shorten } from '../text.ts';
import type { Addresses } from './channel.ts';

/** An http or https URL in its normal form, without fragment; undefined for anything else. The guard checks more than the form. */
export const webAddress = (text: string): string | undefined => {
  const url = URL.parse(text.trim());
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  url.hash = '';
  return url.href;
};

/**
 * `hooks.example.com (3f1c)`: the host, and enough of a digest to distinguish two addresses of one host. Nobody takes it for
 * an address. Never change it: it stands in logs, in metrics and in people's mutes.
 */
export const webLabel = (address: string): string =>
  `${URL.parse(address)?.host ?? 'no host'} (${createHash('sha256').update(address).digest('hex').slice(0, 4)})`;

const scrub = createScrubber([]);

/** A contact that cannot be used, as a problem quotes it: one short line without anything that looks secret. */
export const quoteContact = (text: string): string =>
  webAddress(text) === undefined ? `"${shorten(scrub(cleanLine(text)), 60)}"` : webLabel(text.trim());

/** Some of the texts of an entry. */
interface Contacts {
  texts: readonly string[];
  /** The address; undefined where the text is none. */
  parse(text: string): string | undefined;
  /** What is wrong with a text that is none, `shown` as `quoteContact` quotes it. */
  problem(shown: string): string;
}

/** The addresses of an entry, each once, and what is wrong with its other texts. Blank texts count as left out. */
export const addressesIn = (kind: ChannelKind, all: readonly Contacts[]): Addresses => {
  const read = all.flatMap(({ texts, parse, problem }) =>
    texts
      .filter((text) => text.trim() !== '')
      .map((text) => ({ address: parse(text), problem: () => problem(quoteContact(text)) })),
  );
  if (read.length === 0) return { addresses: [], problems: [`the ${kind} entry has nothing to send to`] };
  return {
    addresses: [...new Set(read.flatMap(({ address }) => address ?? []))],
    problems: read.flatMap(({ address, problem }) => (address === undefined ? [problem()] : [])),
  };
};
