/** How the config names receivers: by full URL, by host:port, or by host. */
import { webAddress } from '../address.ts';

/** The name in its normal form; undefined for anything but a URL, or a host with or without port. */
export const receiverKey = (name: string): string | undefined => {
  if (name.includes('://')) return webAddress(name);
  const url = URL.parse(`https://${name}`);
  return url !== null && url.href === `https://${url.host}/` ? url.host : undefined;
};

/** The entry for an address: that of its URL, else of its host and port, else of its host. */
export const createReceiverFinder = <T>(entries: Readonly<Record<string, T>>): ((address: string) => T | undefined) => {
  const byKey = new Map(Object.entries(entries).map(([name, value]) => [receiverKey(name) ?? name, value]));
  return (address) => {
    const url = URL.parse(address);
    return byKey.get(address) ?? byKey.get(url?.host ?? '') ?? byKey.get(url?.hostname ?? '');
  };
};
