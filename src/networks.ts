/** IP addresses, and networks in CIDR notation. Pure. */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

export type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;

/** An address and how many of its bits count. */
export type Network = [IpAddress, number];

/** IPv4 that is written as IPv6 (`::ffff:10.0.0.1`) is IPv4. Undefined for what Node takes for no address. */
export const parseAddress = (address: string): IpAddress | undefined =>
  // The parser accepts more spellings than the network stack.
  isIP(address) === 0 ? undefined : ipaddr.process(address);

/** A single address is a network of its own. Undefined where the entry is neither; throws for a malformed network. */
export const networkOf = (entry: string): Network | undefined => {
  if (entry.includes('/')) {
    if (isIP(entry.split('/', 1)[0] ?? '') === 0) throw new Error(`${entry} is no network`);
    return ipaddr.parseCIDR(entry);
  }
  const address = parseAddress(entry);
  return address && [address, address.kind() === 'ipv4' ? 32 : 128];
};

export const contains = ([base, bits]: Network, address: IpAddress): boolean =>
  base.kind() === address.kind() && address.match(base, bits);

/**
 * Whom an address stands for, where somebody's share is counted: of IPv6 the network of 64 bits, of which one subscriber has
 * every address. Empty where there is none.
 */
export const sourceOf = (address: string | undefined): string => {
  const parsed = parseAddress(address ?? '');
  if (!(parsed instanceof ipaddr.IPv6)) return parsed?.toString() ?? '';
  const network = parsed.parts.slice(0, 4).map((part) => part.toString(16));
  return `${network.join(':')}::/64`;
};
