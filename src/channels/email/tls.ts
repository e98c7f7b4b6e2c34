/** How the connection to the relay is encrypted, and whom it trusts: what `smtp.tls` and `smtp.ca` mean to nodemailer. */
import type { ConnectionOptions } from 'node:tls';
import { tlsOptions } from '../../connection/trust.ts';
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

export const relayTls = ({ secure, requireTLS, tls, ca, cert, key }: EmailConfig['smtp']): RelayTls => ({
  secure,
  requireTLS: requireTLS && !secure,
  ignoreTLS: tls === 'off',
  opportunisticTLS: tls === 'opportunistic',
  tls: {
    minVersion: MIN_VERSION,
    ...(tls === 'opportunistic' ? { rejectUnauthorized: false } : {}),
    ...tlsOptions(
      { ...(ca !== undefined && { ca }), ...(cert !== undefined && key !== undefined && { cert, key }) },
      { isChosen: true },
    ),
  },
});
