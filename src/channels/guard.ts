/**
 * Which addresses from outside we may send to. Pure: it resolves nothing and opens nothing.
 * An address is public only if ipaddr.js finds it in no special-purpose range (IANA's registries, RFC 6890).
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import ipaddr from 'ipaddr.js';
import { buildConnector } from 'undici';
import { type ConnectionSettings, tlsOptions } from '../connection/settings.ts';
import { authority, type Connector, createTunnel, portOf, type Target } from '../connection/tunnel.ts';
import { DeliveryError } from '../errors.ts';
import { hostKey } from '../net.ts';
import { contains, type IpAddress, type Network, networkOf, parseAddress } from '../networks.ts';
import { networkFailure } from './failures.ts';
import type { Resolve } from './resolver.ts';

export interface GuardOptions {
  /** Allow plain http. */
  allowHttp: boolean;
  /** CIDRs, IP addresses and host names to allow besides public addresses. */
  allowNetworks: readonly string[];
  /** CIDRs and IP addresses to refuse, public or allowed. Default: none. */
  denyNetworks?: readonly string[] | undefined;
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

/** Throws if an entry of `allowNetworks` is neither a network nor a host name, or one of `denyNetworks` no network. */
export const createGuard = ({ allowHttp, allowNetworks, denyNetworks = [] }: GuardOptions) => {
  const networks: Network[] = [];
  const denied = denyNetworks.map(networkOf).filter((network) => network !== undefined);
  const hosts = new Set<string>();
  for (const entry of allowNetworks) {
    const network = networkOf(entry);
    if (network) networks.push(network);
    else hosts.add(hostKey(entry));
  }

  /** The operator allows the host by name, wherever that leads. */
  const allowsHost = (host: string): boolean => hosts.has(hostKey(host));

  /** Why an address that a host name resolves to is refused, as `refuseUrl` says it. */
  const refuseAddress = (text: string, host: string): string | undefined => {
    const address = parseAddress(text);
    if (address !== undefined && denied.some((network) => contains(network, address)))
      return 'leads to an address that is denied (channels.webhook.denyNetworks)';
    if (allowsHost(host)) return undefined;
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

  /** Why a URL is refused, as the end of a sentence that names the config key to allow it; undefined if it is not. */
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

export type Guard = ReturnType<typeof createGuard>;

export interface DialOptions {
  guard: Guard;
  resolve: Resolve;
  /** Default 10 s. */
  connectTimeoutMs?: number;
}

const CONNECT_TIMEOUT_MS = 10_000;

export const blocked = (host: string, refusal: string): DeliveryError =>
  new DeliveryError('destination-dead', `${host} is blocked: it ${refusal}`, {
    code: 'blocked',
    explanation: {
      is: `is blocked: ${host} ${refusal}`,
      todo: 'correct its URL; or, if you trust that address, allow it in channels.webhook (allowNetworks, denyNetworks, allowHttp)',
    },
  });

/** A name is used only if every one of its addresses is allowed: a mixed answer must not let one slip through. */
const refusalOf = (guard: Guard, addresses: readonly LookupAddress[], host: string): string | undefined =>
  addresses.map(({ address }) => guard.refuseAddress(address, host)).find(Boolean);

/** Throws if the guard refuses the host or an address it resolves to. A name that does not resolve passes. */
export const judgeHost = async ({ guard, resolve }: DialOptions, host: string): Promise<void> => {
  const addresses = isIP(host) === 0 ? await resolve(host).catch(() => []) : [];
  const refusal = refusalOf(guard, addresses, host);
  if (refusal !== undefined) throw blocked(host, refusal);
};

const guardedLookup =
  (guard: Guard, resolve: Resolve): LookupFunction =>
  (host, options, callback) => {
    const found = (addresses: LookupAddress[]): void => {
      const refusal = refusalOf(guard, addresses, host);
      const [first] = addresses;
      if (refusal !== undefined) callback(blocked(host, refusal), '');
      else if (first === undefined) callback(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }), '');
      else if (options.all) callback(null, addresses);
      else callback(null, first.address, first.family);
    };
    resolve(host).then(found, (error: NodeJS.ErrnoException) => callback(error, ''));
  };

/**
 * The second and third of three checks. No single place sees every way in: an IP address in a URL is never looked up (the
 * first check, of the URL itself, judges it), only the lookup knows a name's addresses, and only the open socket shows
 * who was dialled. `connect` takes a list of blocked networks, but ignores it for https.
 */
const dialStraight = (
  { guard, resolve, connectTimeoutMs = CONNECT_TIMEOUT_MS }: DialOptions,
  settings: ConnectionSettings,
): Connector => {
  const connect = buildConnector({
    lookup: guardedLookup(guard, resolve),
    allowH2: false,
    timeout: connectTimeoutMs,
    ...tlsOptions(settings, { isChosen: false }),
  });
  return {
    connect: (options, callback) => {
      const host = hostKey(options.hostname);
      connect(options, (error, socket) => {
        if (error !== null) return callback(error, null);
        const refusal = guard.refuseAddress(socket.remoteAddress ?? '', host);
        if (refusal === undefined) return callback(null, socket);
        socket.destroy();
        callback(blocked(host, refusal), null);
      });
    },
    close: async () => {},
  };
};

const unresolved = (host: string, error: unknown): DeliveryError => {
  const { message, code } = networkFailure(error, host, false);
  const remedy = 'to have the proxy look it up, list the host in channels.webhook.allowNetworks';
  // A code of its own: undici would redial for ever.
  return new DeliveryError('unavailable', `${message}: ${remedy}`, { code: `name-${code}` });
};

/**
 * What to ask the proxy for: the addresses that were checked, never the name, which the proxy would resolve again, perhaps
 * to another address. A name that the operator allows may lead anywhere, so the proxy gets it as it is. IPv4 comes first:
 * fewer proxies reach IPv6.
 */
const checkedAuthorities = async ({ guard, resolve }: DialOptions, target: Target): Promise<string[]> => {
  const host = hostKey(target.hostname);
  const port = portOf(target);
  if (isIP(host) !== 0 || guard.allowsHost(host)) return [authority(host, port)];
  const addresses = await resolve(host).catch((error: unknown) => {
    throw unresolved(host, error);
  });
  const refusal = refusalOf(guard, addresses, host);
  if (refusal !== undefined) throw blocked(host, refusal);
  if (addresses.length === 0) throw unresolved(host, { code: 'ENOTFOUND' });
  return addresses
    .toSorted((a, b) => Number(a.family) - Number(b.family))
    .map(({ address }) => authority(address, port));
};

/** Opens nothing yet. We trust the proxy, which the operator configured, but not the target. */
export const createDialer = (options: DialOptions, settings: ConnectionSettings = {}): Connector => {
  const { connectTimeoutMs: timeoutMs = CONNECT_TIMEOUT_MS } = options;
  if (settings.proxy === undefined) return dialStraight(options, settings);
  const authoritiesOf = (target: Target) => checkedAuthorities(options, target);
  return createTunnel(new URL(settings.proxy.reveal()), settings, { timeoutMs, authoritiesOf, isChosen: false });
};
