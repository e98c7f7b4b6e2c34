/** What every connection needs: hosts as they are written, faults in words that say what to mend, deadlines. Loads no library. */
import { isIP } from 'node:net';

/** `EXAMPLE.com.` and `example.com` are one host; brackets belong to the URL, not to the address. */
export const hostKey = (host: string): string =>
  host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')
    .toLowerCase();

export const isCidr = (text: string): boolean => {
  const [address = '', bits = '', ...rest] = text.split('/');
  const family = isIP(address);
  return rest.length === 0 && family !== 0 && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === 4 ? 32 : 128);
};

/** What an HTTP status says of its sender. Source: RFC 9110, and for 520 to 530 Cloudflare's documentation of its 5xx errors. */
const MEANINGS: Readonly<Record<number, string>> = {
  500: 'it has a fault of its own',
  502: 'the server behind it gave no usable answer',
  503: 'it is overloaded or down for a while',
  504: 'the server behind it took too long',
  507: 'it has no room left',
  520: 'the server behind it gave no usable answer',
  521: 'the server behind it is down',
  522: 'the server behind it took too long to connect',
  523: 'the server behind it cannot be reached',
  524: 'the server behind it took too long',
  525: 'the server behind it does not speak TLS as expected',
  526: 'the server behind it has no certificate that is trusted',
};

/** `503 (it is overloaded or down for a while)`; a status without such words stands alone. */
export const statusText = (status: number): string => {
  const meaning = MEANINGS[status];
  return meaning === undefined ? String(status) : `${status} (${meaning})`;
};

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

/** TLS codes of a peer that wants to see a certificate, and has not seen one that it likes. */
export const UNSHOWN_CODES = [
  'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED',
  'ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE',
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE',
  'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
  'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_UNKNOWN',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN',
  'ERR_SSL_SSL/TLS_ALERT_CERTIFICATE_EXPIRED',
  'ERR_SSL_SSLV3_ALERT_CERTIFICATE_EXPIRED',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
] as const;

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
  ...allOf(UNSHOWN_CODES, 'ended the TLS handshake, as it does without a client certificate that it likes'),
  UND_ERR_SOCKET: 'drops the connection',
  UND_ERR_HEADERS_TIMEOUT: 'takes too long to answer',
};

/** As the end of a sentence that begins with who was asked; undefined for a code that is none of these. */
export const connectionFault = (code: string): string | undefined =>
  Object.hasOwn(FAULTS, code) ? `${FAULTS[code]} (${code})` : undefined;

/** What an error calls the parts of a connection: the keys of the config that would mend it. */
export interface ConnectionNames {
  /** Where an authority goes. */
  ca: string;
  /** Where our own certificate goes. */
  cert?: string;
  /** Where the peer's address is written; left out where it comes from outside. */
  address?: string;
  /** The proxy's `host:port`, and where that is written: a key, or a variable. */
  proxy?: { host: string; key: string };
}

/** What mends a connection, by code; a certificate of the peer's is renewed by people. */
export const remedyOf = (code: string, { ca, cert, address }: ConnectionNames): string | undefined => {
  const remedies: Readonly<Record<string, string | undefined>> = {
    CERT_HAS_EXPIRED: 'renew it',
    CERT_NOT_YET_VALID: 'it or a clock is wrong',
    ...allOf(UNTRUSTED_CODES, `give the certificate of its issuer in ${ca}`),
    ERR_TLS_CERT_ALTNAME_INVALID: address === undefined ? undefined : `give a name that is in it in ${address}`,
    ...allOf(NOT_TLS_CODES, address === undefined ? undefined : `see ${address}`),
    ...allOf(UNSHOWN_CODES, cert === undefined ? undefined : `see ${cert}`),
  };
  return Object.hasOwn(remedies, code) ? remedies[code] : undefined;
};

const PROXY_CODE = /^proxy-(.+)$/;

/** What a status says that a proxy answers instead of a tunnel. Sources: RFC 9110, sections 9.3.6 and 15.5.8. */
const refusalAt = (status: number, key: string, isChosen: boolean): string => {
  if (status === 407) return `wants other credentials (407): correct user and password in ${key}`;
  if (status >= 500 || status === 408 || status === 429) return `cannot reach it (${status})`;
  if (isChosen) return `does not let us through (${status}): it has to admit us, or ${key} is wrong`;
  return `does not let us through (${status}): it has to admit us by address, or list the host in channels.webhook.allowNetworks, and it is asked by name`;
};

/** A whole sentence for the code of a failure at the proxy, `proxy-407` or `proxy-ECONNREFUSED`; undefined for any other. */
export const proxyFault = (code: string, { ca, address, proxy }: ConnectionNames): string | undefined => {
  const inner = PROXY_CODE.exec(code)?.[1];
  if (inner === undefined) return undefined;
  const { host = 'of the config', key = 'proxy' } = proxy ?? {};
  if (/^\d+$/.test(inner)) return `the proxy ${host} ${refusalAt(Number(inner), key, address !== undefined)}`;
  const remedy = remedyOf(inner, { ca, address: key }) ?? `see ${key}`;
  return `the proxy ${host} ${connectionFault(inner) ?? `failed (${inner})`}: ${remedy}`;
};

/** Waiting does not help: the proxy knows us and refuses. */
export const isProxyRefusal = (code: string): boolean => /^proxy-(?!408|429)[1-4]\d\d$/.test(code);

/** The longest delay that a timer accepts; a longer one would fire at once. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export type Deadline = ReturnType<typeof startTimeLimit>;

/** Calls `onEnded` once: when the caller aborts, or after a time. */
export const startTimeLimit = (
  caller: AbortSignal,
  timeoutMs: number,
  onEnded: (how: 'aborted' | 'expired') => void,
) => {
  let ended: 'aborted' | 'expired' | undefined;
  const finish = (how: 'aborted' | 'expired') => {
    if (ended !== undefined) return;
    ended = how;
    onEnded(how);
  };
  const abort = () => finish('aborted');
  const delayMs = Math.min(timeoutMs, MAX_DELAY_MS);
  const due = performance.now() + delayMs;
  // The time in which the process stood still is given back, once: the answer may have come meanwhile.
  const giveBack = () => {
    const leftMs = Math.min(Math.max(performance.now() - due, 0), delayMs);
    timer = setTimeout(finish, leftMs, 'expired');
  };
  let timer = setTimeout(giveBack, delayMs);
  if (caller.aborted) abort();
  else caller.addEventListener('abort', abort, { once: true });
  return {
    /** By whom, or `undefined` while time is left. */
    ended: () => ended,
    /** Lets go of the timer and the caller's signal. */
    end: (): void => {
      clearTimeout(timer);
      caller.removeEventListener('abort', abort);
    },
  };
};

/**
 * A signal that aborts with the caller's or after a time; then, as with `AbortSignal.timeout`, the reason is a
 * `TimeoutError`. Its timer and listener end with the request: those of `AbortSignal.timeout` would stay until it fires, long
 * after the answer.
 */
export const startDeadline = (caller: AbortSignal, timeoutMs: number) => {
  const controller = new AbortController();
  const timedOut = () => new DOMException('The operation timed out', 'TimeoutError');
  const limit = startTimeLimit(caller, timeoutMs, (how) =>
    controller.abort(how === 'aborted' ? caller.reason : timedOut()),
  );
  return { ...limit, signal: controller.signal };
};
