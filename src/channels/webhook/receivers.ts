/**
 * How the config names receivers: by full URL, or by host, with or without port. What the config holds for a host is
 * meant for the people who run it: it goes to them over https alone, and to no other port. Addresses come from the
 * service, and behind another port or on the way of plain http may be anybody.
 */
import { webAddress } from '../address.ts';

/** The name in its normal form; undefined for anything but a URL, or a host with or without port. */
export const receiverKey = (name: string): string | undefined => {
  if (name.includes('://')) return webAddress(name);
  const url = URL.parse(`https://${name}`);
  return url !== null && url.href === `https://${url.host}/` ? url.host : undefined;
};

/** The entry for an address: that of its URL, else, of https, that of its host with its port. */
export const createReceiverFinder = <T>(entries: Readonly<Record<string, T>>): ((address: string) => T | undefined) => {
  const byKey = new Map(Object.entries(entries).map(([name, value]) => [receiverKey(name) ?? name, value]));
  return (address) => {
    const url = URL.parse(address);
    return byKey.get(address) ?? (url?.protocol === 'https:' ? byKey.get(url.host) : undefined);
  };
};
