/**
 * Connects to addresses from outside: only to what the guard has checked, directly or through the operator's proxy, with
 * the operator's certificates.
 */
import type { LookupAddress } from 'node:dns';
import { isIP, type LookupFunction, type Socket } from 'node:net';
import { buildConnector, Pool } from 'undici';
import { DeliveryError } from '../errors.ts';
import type { Secret } from '../secret.ts';
import { type Guard, hostKey } from './guard.ts';
import { networkFailure } from './network.ts';
import type { Resolve } from './resolver.ts';

/** The operator's settings for connections to one receiver. All texts are PEM, checked when the config was read. */
export interface ConnectionSettings {
  /** Certificate authorities to trust for this receiver, instead of the system's. */
  ca?: string;
  /** Our own certificate, with `key`. */
  cert?: string;
  key?: Secret;
  /** http(s) URL, perhaps with user and password. */
  proxy?: Secret;
}

export interface DialOptions {
  guard: Guard;
  resolve: Resolve;
  /** Default 10 s. */
  connectTimeoutMs?: number;
}

export interface Dialer {
  connect: buildConnector.connector;
  close(): Promise<void>;
}

const CONNECT_TIMEOUT_MS = 10_000;

export const blocked = (host: string, refusal: string): DeliveryError =>
  new DeliveryError('destination-dead', `${host} is blocked: it ${refusal}`, { code: 'blocked' });

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

const certificatesOf = ({ ca, cert, key }: ConnectionSettings) => ({
  ...(ca === undefined ? {} : { ca }),
  ...(cert === undefined || key === undefined ? {} : { cert, key: key.reveal() }),
});

/**
 * The second and third of three checks. No single place sees every way in: an IP address in a URL is never looked up (the
 * first check, of the URL itself, judges it), only the lookup knows a name's addresses, and only the open socket shows
 * who was dialled. `connect` takes a list of blocked networks, but ignores it for https.
 */
const dialStraight = (
  { guard, resolve, connectTimeoutMs = CONNECT_TIMEOUT_MS }: DialOptions,
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
 * A failure of the proxy counts against the sender, never the receiver: nothing was sent, and the destination stays
 * alive. It has codes of its own because undici would redial for ever on some of the usual ones.
 */
const proxyFailure = (error: unknown, proxy: string): DeliveryError => {
  const { message, code, cause } = networkFailure(error, proxy, false);
  return new DeliveryError('retry', message, { code: `proxy-${code}`, ...(cause === undefined ? {} : { cause }) });
};

/** A proxy that cannot reach the host now may reach it later. Source: RFC 9110, sections 9.3.6 and 15.5.8. */
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

/** The target of a tunnel: `host:port`. */
const authorityOf = ({ host = '', port, protocol }: buildConnector.Options): string =>
  port ? host : `${host}:${protocol === 'https:' ? 443 : 80}`;

/**
 * Through a tunnel (CONNECT), for https and http alike. We trust the proxy, which the operator configured, but not the
 * target: its name is resolved and checked here first. The proxy resolves it again. A name that only the proxy can
 * resolve is not checked, so such a proxy has to refuse private targets itself.
 * undici's own ProxyAgent reports a proxy's refusal and our abort with the same code, and has no place for this check.
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
