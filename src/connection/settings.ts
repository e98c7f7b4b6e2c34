/** How one connection is made: whom we trust, what we show, through which proxy, and what errors call all that. */
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  getCACertificates,
  type PeerCertificate,
} from 'node:tls';
import type { ConnectionNames } from '../net.ts';
import { certificatesIn } from '../schema/connection.ts';
import type { Secret } from '../secret.ts';
import { type ProxyFor, proxyHost } from './proxy-variables.ts';

/** All texts are PEM, checked when the config was read. */
interface TlsSettings {
  /** Certificates that vouch for the peer, besides the well-known authorities. */
  ca?: string;
  /** `ca` vouches instead of the well-known authorities. */
  onlyCa?: boolean;
  /** Our own certificate, with `key`. */
  cert?: string;
  key?: Secret;
}

export interface ConnectionSettings extends TlsSettings {
  /** http(s) URL, perhaps with user and password. */
  proxy?: Secret;
  /** Vouches for a proxy of https where `ca` is for the peer alone. */
  proxyCa?: string;
  names?: ConnectionNames;
}

type Given = { [Key in 'ca' | 'cert' | 'key' | 'proxy']?: ConnectionSettings[Key] | undefined };

export const settingsIn = ({
  ca,
  cert,
  key,
  proxy,
}: Given): Omit<ConnectionSettings, 'names' | 'onlyCa' | 'proxyCa'> => ({
  ...(ca !== undefined && { ca }),
  ...(cert !== undefined && key !== undefined && { cert, key }),
  ...(proxy !== undefined && { proxy }),
});

/** Gives the same object for the same proxy each time: connections are kept for each object. */
export type ConnectionTo = (url: string) => ConnectionSettings;

interface ConnectionPlace {
  /** Path of the section in the config, e.g. `channels.slack`. */
  section: string;
  /** Path of the key with the peer's address; left out where the address comes from outside. */
  address?: string;
}

/** The connections that one section of the config describes; `proxyFor` is asked where it names no proxy. */
export const createConnections = (
  { proxy, ...tls }: Omit<ConnectionSettings, 'names'>,
  { section, address }: ConnectionPlace,
  proxyFor: ProxyFor = () => undefined,
): ConnectionTo => {
  const made = new Map<Secret | undefined, ConnectionSettings>();
  const own = proxy && { url: proxy, key: `${section}.proxy` };
  return (url) => {
    const chosen = own ?? proxyFor(url);
    const known = made.get(chosen?.url);
    if (known !== undefined) return known;
    const settings: ConnectionSettings = {
      ...tls,
      ...(chosen && { proxy: chosen.url }),
      names: {
        ca: `${section}.ca`,
        cert: `${section}.cert`,
        ...(address !== undefined && { address }),
        ...(chosen && { proxy: { host: proxyHost(chosen.url), key: chosen.key } }),
      },
    };
    made.set(chosen?.url, settings);
    return settings;
  };
};

/** Whom a TLS connection trusts and what it shows, as Node's options. */
export type TlsOptions = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'secureContext' | 'checkServerIdentity'>;

/**
 * `ca` counts beside the well-known authorities: a peer that gets a public certificate later stays reachable. A
 * certificate that is itself in `ca` needs no issuer. With `isChosen`, as the operator wrote the peer's address, it needs
 * no matching name either: the peer has proven that it holds the key of just this one.
 */
export const tlsOptions = ({ ca, onlyCa, cert, key }: TlsSettings, { isChosen }: { isChosen: boolean }): TlsOptions => {
  const shown = cert === undefined || key === undefined ? {} : { cert, key: key.reveal() };
  if (ca === undefined) return shown;
  if (onlyCa) return { ...shown, ca };
  const given = certificatesIn(ca);
  const own = given.map(({ raw }) => raw);
  return {
    // Made once: reading the well-known certificates takes 10 ms.
    secureContext: createSecureContext({
      ...shown,
      ca: [...getCACertificates('default'), ...given.map(String)],
      allowPartialTrustChain: true,
      minVersion: 'TLSv1.2',
    }),
    checkServerIdentity: (host: string, certificate: PeerCertificate) =>
      isChosen && own.some((raw) => raw.equals(certificate.raw)) ? undefined : checkServerIdentity(host, certificate),
  };
};
