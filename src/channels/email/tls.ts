/** How the connection to the relay is encrypted, and whom it trusts: what `smtp.tls` and `smtp.ca` mean to nodemailer. */
import {
  type ConnectionOptions,
  checkServerIdentity,
  createSecureContext,
  getCACertificates,
  type PeerCertificate,
} from 'node:tls';
import { certificatesIn } from '../../schema/pem.ts';
import type { EmailConfig } from './config.ts';

interface RelayTls {
  secure: boolean;
  requireTLS: boolean;
  ignoreTLS: boolean;
  /** Go on without TLS if the relay offers STARTTLS and then refuses it. */
  opportunisticTLS: boolean;
  tls: ConnectionOptions;
}

const MIN_VERSION = 'TLSv1.2';

/**
 * The operator's certificates beside the well-known ones: a relay that gets a public certificate later stays reachable.
 * A certificate that is itself in `ca` needs no issuer and no matching name: the relay has proven that it holds the key
 * of just this one. Any other certificate needs both.
 */
const trusting = (ca: string): ConnectionOptions => {
  const pinned = certificatesIn(ca);
  const own = pinned.map(({ raw }) => raw);
  return {
    // Made once: reading the well-known certificates takes 10 ms.
    secureContext: createSecureContext({
      ca: [...getCACertificates('default'), ...pinned.map(String)],
      allowPartialTrustChain: true,
      minVersion: MIN_VERSION,
    }),
    checkServerIdentity: (host: string, certificate: PeerCertificate) =>
      own.some((raw) => raw.equals(certificate.raw)) ? undefined : checkServerIdentity(host, certificate),
  };
};

export const relayTls = ({ secure, requireTLS, tls, ca }: EmailConfig['smtp']): RelayTls => ({
  secure,
  requireTLS: requireTLS && !secure,
  ignoreTLS: tls === 'off',
  opportunisticTLS: tls === 'opportunistic',
  tls: {
    minVersion: MIN_VERSION,
    ...(tls === 'opportunistic' ? { rejectUnauthorized: false } : {}),
    ...(ca === undefined ? {} : trusting(ca)),
  },
});
