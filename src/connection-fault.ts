/** Why a connection could not be made, in words that say what to mend: a port, a name, a certificate. */

/** TLS codes of a certificate that nobody we trust vouches for. */
export const UNTRUSTED_CODES = [
  'CERT_UNTRUSTED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
] as const;

/** TLS codes of a peer that speaks something else. */
export const NOT_TLS_CODES = ['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG', 'EPROTO'] as const;

/** A table in which each of the codes means the same. */
export const allOf = <T>(codes: readonly string[], meaning: T): Record<string, T> =>
  Object.fromEntries(codes.map((code) => [code, meaning]));

/** By errno or TLS code. Sources: Node's errors and `tls` documentation, OpenSSL's verification codes. */
const FAULTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'drops the connection',
  EPIPE: 'drops the connection',
  EHOSTUNREACH: 'cannot be reached',
  ENETUNREACH: 'cannot be reached',
  ETIMEDOUT: 'takes too long to connect',
  UND_ERR_CONNECT_TIMEOUT: 'takes too long to connect',
  ENOTFOUND: 'cannot be found by name',
  EAI_AGAIN: 'cannot be found by name',
  ENOENT: 'has no socket at this path',
  EACCES: 'may not be opened by this user',
  CERT_HAS_EXPIRED: 'has a certificate that has expired',
  CERT_NOT_YET_VALID: 'has a certificate that is not valid yet',
  CERT_REVOKED: 'has a certificate that was revoked',
  ...allOf(UNTRUSTED_CODES, 'has a certificate that nobody we trust vouches for'),
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a certificate for another name',
  ...allOf(NOT_TLS_CODES, 'does not speak TLS as expected'),
};

/** As the end of a sentence that begins with who was asked; undefined for a code that is none of these. */
export const connectionFault = (code: string): string | undefined =>
  Object.hasOwn(FAULTS, code) ? `${FAULTS[code]} (${code})` : undefined;
