/** Web addresses in channel entries. The path of one is often its only secret, so it is never shown. */
import { createHash } from 'node:crypto';
import { createScrubber } from '../secret.ts';
import { cleanLine, shorten } from '../text.ts';

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
