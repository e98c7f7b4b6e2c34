/** How one connection is made: whom we trust, what we show, and through which proxy; and what errors call all that. */
import type { ConnectionNames } from '../connection-fault.ts';
import type { Secret } from '../secret.ts';
import { type ProxyFor, proxyHost } from './proxy-variables.ts';

/** All texts are PEM, checked when the config was read. */
export interface TlsSettings {
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

/** What a section of the config has of them. */
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

export interface ConnectionPlace {
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
