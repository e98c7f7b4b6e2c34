/** Whom a TLS connection trusts and what it shows, as Node's options. */
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  getCACertificates,
  type PeerCertificate,
} from 'node:tls';
import { certificatesIn } from '../schema/pem.ts';
import type { TlsSettings } from './settings.ts';

export type TlsOptions = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'secureContext' | 'checkServerIdentity'>;

const MIN_VERSION = 'TLSv1.2';

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
      minVersion: MIN_VERSION,
    }),
    checkServerIdentity: (host: string, certificate: PeerCertificate) =>
      isChosen && own.some((raw) => raw.equals(certificate.raw)) ? undefined : checkServerIdentity(host, certificate),
  };
};
