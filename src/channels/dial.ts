/**
 * How a connection to an address from outside is made: to what the guard has checked, straight or through a proxy that
 * the operator named, with the certificates that the operator gave.
 */
import type { LookupAddress } from 'node:dns';
import { lookup as systemLookup } from 'node:dns/promises';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector, Pool } from 'undici';
import { DeliveryError } from '../errors.ts';
import type { Secret } from '../secret.ts';
import { type Guard, hostKey } from './guard.ts';
import { networkFailure } from './network.ts';

/** What the operator has set for one receiver's connections. All texts are PEM, checked when the config was read. */
export interface ConnectionSettings {
  /** Authorities that vouch for the receiver, instead of the system's. */
  ca?: string;
  /** Our own certificate, with `key`. */
  cert?: string;
  key?: Secret;
  /** http(s) URL, perhaps with user and password. */
  proxy?: Secret;
}

/** Every address of a host name. */
export type Resolve = (host: string) => Promise<LookupAddress[]>;

export interface DialOptions {
  guard: Guard;
  /** Default: the operating system's resolver. */
  resolve?: Resolve;
  /** Default 10 s. */
  connectTimeoutMs?: number;
}

export interface Dialer {
  connect: buildConnector.connector;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

const systemResolve: Resolve = (host) => systemLookup(host, { all: true });

export const blocked = (host: string, refusal: string): DeliveryError =>
  new DeliveryError('destination-dead', `${host} is not written to: it ${refusal}`, { code: 'blocked' });

/** A name is used only when each of its addresses may be, so that a mixed answer cannot slip one through. */
const refusalOf = (guard: Guard, addresses: readonly LookupAddress[], host: string): string | undefined =>
  addresses.map(({ address }) => guard.refuseAddress(address, host)).find(Boolean);

/** Throws where the guard refuses what a host leads to. A name that cannot be resolved is not judged. */
export const judgeHost = async ({ guard, resolve = systemResolve }: DialOptions, host: string): Promise<void> => {
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

const certificatesOf = ({ ca, cert, key }: ConnectionSettings) => ({
  ...(ca === undefined ? {} : { ca }),
  ...(cert === undefined || key === undefined ? {} : { cert, key: key.reveal() }),
});

/**
 * The second and third of three checks, since no single place sees every way in: an address written into a URL is never
 * looked up (whoever takes the URL judges it), a name's addresses are known only to the lookup, and the open socket alone
 * tells who was dialled. A list of blocked networks given to `connect` would do for http, but is ignored for https.
 */
const dialStraight = (
  { guard, resolve = systemResolve, connectTimeoutMs = CONNECT_TIMEOUT_MS }: DialOptions,
  settings: ConnectionSettings,
): Dialer => {
  const connect = buildConnector({
    lookup: guardedLookup(guard, resolve),
    allowH2: false,
    timeout: connectTimeoutMs,
    ...certificatesOf(settings),
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

/**
 * A failure of the proxy's is the sender's, never the receiver's: nothing was sent, and no destination dies of it.
 * Under codes of its own also because undici would dial again for ever on some of those that it knows.
 */
const proxyFailure = (error: unknown, proxy: string): DeliveryError => {
  const { message, code, cause } = networkFailure(error, proxy, false);
  return new DeliveryError('retry', message, { code: `proxy-${code}`, ...(cause === undefined ? {} : { cause }) });
};

/** Source: RFC 9110, sections 9.3.6 and 15.5.8; what a proxy cannot reach now it may reach later. */
const proxyRefusal = (status: number, proxy: string, host: string): DeliveryError => {
  const code = `proxy-${status}`;
  if (status === 407) return new DeliveryError('sender-misconfigured', `${proxy} wants other credentials`, { code });
  return status >= 500 || status === 408 || status === 429
    ? new DeliveryError('retry', `${proxy} cannot reach ${host} (${status})`, { code })
    : new DeliveryError('sender-misconfigured', `${proxy} does not let us through to ${host} (${status})`, { code });
};

const basicAuth = ({ username, password }: URL): Record<string, string> => {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
};

/** As a tunnel's target is named: `host:port`. */
const authorityOf = ({ host = '', port, protocol }: buildConnector.Options): string =>
  port ? host : `${host}:${protocol === 'https:' ? 443 : 80}`;

/**
 * Through a tunnel (CONNECT), for https and http alike. The proxy is trusted, as the operator named it; the target is
 * not, so its name is resolved and judged here first. The proxy resolves it again, and a name that only the proxy can
 * resolve is not judged: such a proxy has to refuse private targets by itself.
 * undici's own ProxyAgent gives a proxy's refusal and our abort the same code, and takes no such check.
 */
const dialThrough = (proxyUrl: URL, options: DialOptions, settings: ConnectionSettings): Dialer => {
  const { connectTimeoutMs = CONNECT_TIMEOUT_MS } = options;
  const proxy = `the proxy ${proxyUrl.host}`;
  const timeouts = { headersTimeout: connectTimeoutMs, connect: { timeout: connectTimeoutMs, allowH2: false } };
  const tunnels = new Pool(proxyUrl.origin, { ...timeouts, allowH2: false });
  const auth = basicAuth(proxyUrl);
  const secure = buildConnector({ allowH2: false, timeout: connectTimeoutMs, ...certificatesOf(settings) });

  const openTunnel = async (target: buildConnector.Options): Promise<Socket> => {
    const host = hostKey(target.hostname);
    await judgeHost(options, host);
    const path = authorityOf(target);
    const { socket, statusCode } = await tunnels
      .connect({ path, headers: { host: path, ...auth } })
      .catch((error: unknown) => {
        throw proxyFailure(error, proxy);
      });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.on('error', () => {}).destroy();
    throw proxyRefusal(statusCode, proxy, host);
  };

  return {
    connect: (target, callback) => {
      openTunnel(target).then(
        (httpSocket) => {
          if (target.protocol === 'https:') secure({ ...target, httpSocket }, callback);
          else callback(null, httpSocket);
        },
        (error: Error) => callback(error, null),
      );
    },
    close: () => tunnels.destroy(),
  };
};

/** Opens nothing yet. */
export const createDialer = (options: DialOptions, settings: ConnectionSettings = {}): Dialer =>
  settings.proxy === undefined
    ? dialStraight(options, settings)
    : dialThrough(new URL(settings.proxy.reveal()), options, settings);
