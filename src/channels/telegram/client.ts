/** Telegraf's HTTP client, kept to one server. It neither retries nor waits. */
import type { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Telegram } from 'telegraf';
import type { ProxyFor } from '../../connection/proxy-variables.ts';
import { createConnections, settingsIn } from '../../connection/settings.ts';
import { authority, type Connector, createConnector } from '../../connection/tunnel.ts';
import { createScrubber } from '../../secret.ts';
import { stoppedWaiting } from '../failures.ts';
import type { TelegramConfig } from './config.ts';
import { redirected, telegramFailure } from './verdicts.ts';

/** An import of it would load all that Node's `fetch` needs as well, 14 MB. */
const http = process.getBuiltinModule('node:http');

type CallApi = Telegram['callApi'];
type CallOptions = NonNullable<Parameters<CallApi>[2]>;

/** The client's type is a polyfill's signal, which has fewer members than Node's; the client only passes it on. */
const callOptions = (signal: AbortSignal): CallOptions => ({ signal: signal as NonNullable<CallOptions['signal']> });

/** `new URL('./bot…', root)` drops a path that does not end in a slash. */
const asRoot = (url: string): string => url.replace(/\/*$/, '/');

type Method = Parameters<CallApi>[0];
export type Payload<M extends Method> = Parameters<typeof Telegram.prototype.callApi<M>>[1];
type Result<M extends Method> = ReturnType<typeof Telegram.prototype.callApi<M>>;

export interface TelegramClient {
  /** One call to the Bot API, in the time that `signal` gives. Throws a `DeliveryError` if it fails. `address` is left out for a call that sends nothing. */
  call<M extends Method>(method: M, payload: Payload<M>, signal: AbortSignal, address?: string): Result<M>;
  close(): Promise<void>;
}

/**
 * Node-fetch follows redirects, and telegraf cannot turn that off. But node-fetch asks for an agent by the URL of every
 * request, so our function refuses other URLs. Telegraf takes no agent for plain HTTP, so we set it from outside.
 */
const refuseRedirects = (api: Telegram, root: string, agent: HttpAgent): void => {
  const allowed = new URL(`./bot${api.token}/`, root).href;
  const agentOf = ({ href }: { href: string }): HttpAgent => {
    if (!href.startsWith(allowed)) throw redirected();
    return agent;
  };
  Object.assign(api.options, { agent: agentOf });
};

const CONNECT_TIMEOUT_MS = 10_000;
const SECTION = 'channels.telegram';

type CreateConnection = HttpAgent['createConnection'];

/** Keeps connections to the Bot API. Where certificates or a proxy are set, they are made by our own connector. */
const createAgent = (apiRoot: string, connector: Connector | undefined): HttpAgent => {
  const { protocol } = new URL(apiRoot);
  const agent = protocol === 'https:' ? new HttpsAgent({ keepAlive: true }) : new http.Agent({ keepAlive: true });
  if (connector === undefined) return agent;
  const createConnection: CreateConnection = ({ host, port }, done) => {
    const hostname = String(host);
    const target = { hostname, host: authority(hostname, String(port)), protocol, port: String(port) };
    connector.connect(target, (error, socket) => {
      // Node's type wants a socket beside an error; its agent does not look at it.
      if (error !== null) done?.(error, undefined as never);
      else done?.(null, socket);
    });
    return undefined;
  };
  return Object.assign(agent, { createConnection });
};

export const createTelegramClient = (config: TelegramConfig, proxyFor?: ProxyFor): TelegramClient => {
  const { botToken, apiRoot } = config;
  const token = botToken.reveal();
  const scrub = createScrubber([token]);
  const { host: peer } = new URL(apiRoot);
  const place = { section: SECTION, address: `${SECTION}.apiRoot` };
  const connection = createConnections(settingsIn(config), place, proxyFor)(apiRoot);
  const connector = createConnector(connection, CONNECT_TIMEOUT_MS);
  const agent = createAgent(apiRoot, connector);
  const api = new Telegram(token, { apiRoot: asRoot(apiRoot), webhookReply: false });
  refuseRedirects(api, asRoot(apiRoot), agent);
  return {
    call: async (method, payload, signal, address = '') => {
      if (signal.aborted) throw stoppedWaiting(signal, peer, false);
      try {
        return await api.callApi(method, payload, callOptions(signal));
      } catch (error) {
        if (signal.aborted) throw stoppedWaiting(signal, peer, true);
        throw telegramFailure(error, { peer, address, names: connection.names, scrub });
      }
    },
    close: async () => {
      agent.destroy();
      await connector?.close();
    },
  };
};
