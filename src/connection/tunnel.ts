/** Connections through the operator's proxy, by a tunnel (CONNECT), for https and http alike. */
import type { Socket } from 'node:net';
import { Agent, buildConnector, Pool } from 'undici';
import { type ConnectionSettings, type TlsOptions, tlsOptions } from './settings.ts';

export type Target = buildConnector.Options;

export interface Connector {
  connect: buildConnector.connector;
  close(): Promise<void>;
}

/** The proxy failed us, or refused. Its code begins with `proxy-`: undici would redial for ever on some of the usual ones. */
export class ProxyError extends Error {
  override name = 'ProxyError';
  readonly code: string;
  /** `code`: a status, or that of the error below, which is not kept: it may quote an address. */
  constructor(code: string) {
    super(`proxy failed (${code})`);
    this.code = `proxy-${code}`;
  }
}

interface TunnelOptions {
  timeoutMs: number;
  /** `host:port` to ask the proxy for, one after the other while it cannot reach them. Default: the target's own. */
  authoritiesOf?(target: Target): Promise<readonly string[]>;
  /** The operator wrote the target's address. */
  isChosen: boolean;
}

/** A proxy that cannot reach one address of a name may reach another, e.g. by IPv4 only. */
const MOST_ADDRESSES = 3;

export const portOf = ({ port, protocol }: Target): string => port || (protocol === 'https:' ? '443' : '80');

/** `host:port`, an IPv6 address in brackets. */
export const authority = (host: string, port: string): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

const basicAuth = ({ username, password }: URL): Record<string, string> => {
  if (username === '' && password === '') return {};
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
};

/** Node and undici give their errors a code; an abort has only a name. */
export const codeOf = (error: unknown): string => {
  const { code, name } = (typeof error === 'object' && error !== null ? error : {}) as {
    code?: unknown;
    name?: unknown;
  };
  return ([code, name].find((word) => typeof word === 'string' && word !== 'Error') as string | undefined) ?? 'unknown';
};

/** A proxy of https: `ca` vouches for it besides the well-known ones; it gets no certificate of ours. */
const proxyTrust = ({ ca, onlyCa, proxyCa }: ConnectionSettings): TlsOptions => {
  const vouching = onlyCa ? proxyCa : ca;
  return vouching === undefined ? {} : tlsOptions({ ca: vouching }, { isChosen: true });
};

/**
 * Opens nothing yet. undici's own ProxyAgent reports a proxy's refusal and our abort with the same code, and cannot ask
 * for another address than the URL's.
 */
export const createTunnel = (proxyUrl: URL, settings: ConnectionSettings, options: TunnelOptions): Connector => {
  const { timeoutMs, isChosen } = options;
  const connect = { timeout: timeoutMs, allowH2: false, ...proxyTrust(settings) };
  const tunnels = new Pool(proxyUrl.origin, { headersTimeout: timeoutMs, connect, allowH2: false });
  const auth = basicAuth(proxyUrl);
  const secure = buildConnector({ allowH2: false, timeout: timeoutMs, ...tlsOptions(settings, { isChosen }) });
  const own = async (target: Target) => [authority(target.hostname.replace(/^\[(.*)\]$/, '$1'), portOf(target))];
  const authoritiesOf = options.authoritiesOf ?? own;

  /** The tunnel, or the status of the refusal. */
  const ask = async (path: string): Promise<Socket | number> => {
    const { socket, statusCode } = await tunnels
      .connect({ path, headers: { host: path, ...auth } })
      .catch((error: unknown) => {
        throw new ProxyError(codeOf(error));
      });
    if (statusCode >= 200 && statusCode < 300) return socket as Socket;
    socket.on('error', () => {}).destroy();
    return statusCode;
  };

  const open = async (target: Target): Promise<Socket> => {
    let status = 0;
    for (const path of (await authoritiesOf(target)).slice(0, MOST_ADDRESSES)) {
      const answer = await ask(path);
      if (typeof answer !== 'number') return answer;
      status = answer;
      if (status < 500) break;
    }
    throw new ProxyError(String(status));
  };

  return {
    connect: (target, callback) => {
      open(target).then(
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

/** Connects to the proxy and asks it for nothing. Throws a `ProxyError`. */
export const reachProxy = (settings: ConnectionSettings, timeoutMs: number): Promise<void> =>
  new Promise((resolve, reject) => {
    const { proxy } = settings;
    if (proxy === undefined) return resolve();
    const { hostname, host, protocol, port } = new URL(proxy.reveal());
    const connect = buildConnector({ timeout: timeoutMs, allowH2: false, ...proxyTrust(settings) });
    connect({ hostname, host, protocol, port }, (error, socket) => {
      if (error !== null) return reject(new ProxyError(codeOf(error)));
      socket.on('error', () => {}).destroy();
      resolve();
    });
  });

const isEmpty = ({ ca, cert, proxy }: ConnectionSettings): boolean => !(ca ?? cert ?? proxy);

/** For an address that the operator wrote. Undefined where undici's own connector does it. */
export const createConnector = (settings: ConnectionSettings, timeoutMs: number): Connector | undefined => {
  if (isEmpty(settings)) return undefined;
  const { proxy } = settings;
  if (proxy !== undefined) return createTunnel(new URL(proxy.reveal()), settings, { timeoutMs, isChosen: true });
  const connect = buildConnector({ allowH2: false, timeout: timeoutMs, ...tlsOptions(settings, { isChosen: true }) });
  return { connect, close: async () => {} };
};

/** Connections to an address that the operator wrote. Opens nothing yet. */
export const createAgent = (settings: ConnectionSettings, timeoutMs: number, limits: Agent.Options) => {
  const connector = createConnector(settings, timeoutMs);
  const agent = new Agent({ allowH2: false, ...limits, ...(connector && { connect: connector.connect }) });
  const close = async (): Promise<void> => {
    await agent.destroy();
    await connector?.close();
  };
  return { agent, close };
};
