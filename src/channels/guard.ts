/**
 * Which addresses from outside we may send to. Pure: it resolves nothing and opens nothing.
 * An address is public only if ipaddr.js finds it in no special-purpose range (IANA's registries, RFC 6890).
 */
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { hostKey } from '../hosts.ts';
import { contains, type IpAddress, type Network, networkOf, parseAddress } from '../networks.ts';

export interface GuardOptions {
  /** Allow plain http. */
  allowHttp: boolean;
  /** CIDRs, IP addresses and host names to allow besides public addresses. */
  allowNetworks: readonly string[];
}

export interface Guard {
  /** Why a URL is refused, as the end of a sentence that names the config key to allow it; undefined if it is not. */
  refuseUrl(url: URL): string | undefined;
  /** The same for an address that a host name resolves to. */
  refuseAddress(address: string, host: string): string | undefined;
  /** The operator allows the host by name, wherever that leads. */
  allowsHost(host: string): boolean;
}

/** All public IPv6 addresses assigned so far. Outside are, among others, old ways to write IPv4 addresses. */
const PUBLIC_IPV6: Network = ipaddr.parseCIDR('2000::/3');

/** Azure serves the machine's credentials at this address, which is in a public range. */
const METADATA_IN_PUBLIC_RANGE = '168.63.129.16';

/** A tunnel to the IPv4 address at its end, of use only inside a site; any prefix may have one (RFC 5214, section 6.1). */
const isIsatap = (address: IpAddress): boolean =>
  address instanceof ipaddr.IPv6 &&
  (address.parts[4] === 0 || address.parts[4] === 0x200) &&
  address.parts[5] === 0x5efe;

const isPublic = (address: IpAddress): boolean =>
  address.range() === 'unicast' &&
  (address.kind() === 'ipv4' || contains(PUBLIC_IPV6, address)) &&
  !isIsatap(address) &&
  address.toString() !== METADATA_IN_PUBLIC_RANGE;

/** Throws if an entry of `allowNetworks` is neither a network nor a host name. */
export const createGuard = ({ allowHttp, allowNetworks }: GuardOptions): Guard => {
  const networks: Network[] = [];
  const hosts = new Set<string>();
  for (const entry of allowNetworks) {
    const network = networkOf(entry);
    if (network) networks.push(network);
    else hosts.add(hostKey(entry));
  }

  const allowsHost = (host: string): boolean => hosts.has(hostKey(host));

  const refuseAddress = (text: string, host: string): string | undefined => {
    if (allowsHost(host)) return undefined;
    const address = parseAddress(text);
    if (address === undefined) return 'leads to something that is no address';
    const allowed = isPublic(address) || networks.some((network) => contains(network, address));
    return allowed ? undefined : 'leads to an address that is not public (channels.webhook.allowNetworks)';
  };

  /** With the other key that the address needs, so that nobody has to try twice. */
  const refuseHttp = (host: string): string => {
    const rule = 'is plain http, which is not allowed (channels.webhook.allowHttp)';
    if (hosts.has(host)) return rule;
    if (isIP(host) === 0) return `${rule}; a host in a private network also needs channels.webhook.allowNetworks`;
    const reason = refuseAddress(host, host);
    return reason === undefined ? rule : `${rule}, and ${reason}`;
  };

  const refuseUrl = (url: URL): string | undefined => {
    if (url.protocol === 'http:') {
      if (!allowHttp) return refuseHttp(hostKey(url.hostname));
    } else if (url.protocol !== 'https:') return 'is neither https nor http';
    if (url.username !== '' || url.password !== '') return 'carries a user or password in its URL';
    const host = hostKey(url.hostname);
    return isIP(host) === 0 ? undefined : refuseAddress(host, host);
  };

  return { refuseUrl, refuseAddress, allowsHost };
};
