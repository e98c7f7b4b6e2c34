/** Telegraf's HTTP client, kept to one server and one deadline. It neither retries nor waits. */
import { Agent as HttpAgent } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { Telegram } from 'telegraf';
import { createScrubber } from '../../secret.ts';
import { networkFailure } from '../network.ts';
import type { TelegramConfig } from './config.ts';
import { redirected, telegramFailure } from './verdicts.ts';

type CallOptions = NonNullable<Parameters<Telegram['callApi']>[2]>;

/** Telegram's client declares the signal of a polyfill, which has less than Node's; it only passes it on. */
const callOptions = (signal: AbortSignal): CallOptions => ({ signal: signal as NonNullable<CallOptions['signal']> });

/** `new URL('./bot…', root)` drops a path that does not end in a slash. */
const asRoot = (url: string): string => url.replace(/\/*$/, '/');

export interface TelegramClient {
  /** Runs one call to the Bot API. Throws a `DeliveryError` for whatever goes wrong. `address` is empty where nothing is sent. */
  call<T>(address: string, signal: AbortSignal, run: (api: Telegram, options: CallOptions) => Promise<T>): Promise<T>;
  close(): void;
}

/**
 * Node-fetch follows redirects, and telegraf has no word in it. But it asks for the agent of every request by its URL;
 * telegraf itself takes none for plain HTTP, so it is set behind its back.
 */
const refuseRedirects = (api: Telegram, root: string, agent: HttpAgent): void => {
  const allowed = new URL(`./bot${api.token}/`, root).href;
  const agentOf = ({ href }: { href: string }): HttpAgent => {
    if (!href.startsWith(allowed)) throw redirected();
    return agent;
  };
  Object.assign(api.options, { agent: agentOf });
};

export const createTelegramClient = ({ botToken, apiRoot, timeout }: TelegramConfig): TelegramClient => {
  const token = botToken.reveal();
  const scrub = createScrubber([token]);
  const { host: peer, protocol } = new URL(apiRoot);
  const agent = protocol === 'https:' ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true });
  const api = new Telegram(token, { apiRoot: asRoot(apiRoot), webhookReply: false });
  refuseRedirects(api, asRoot(apiRoot), agent);
  return {
    call: async (address, signal, run) => {
      if (signal.aborted) throw networkFailure({ name: 'AbortError' }, peer, false);
      const deadline = AbortSignal.timeout(timeout);
      try {
        return await run(api, callOptions(AbortSignal.any([signal, deadline])));
      } catch (error) {
        if (signal.aborted) throw networkFailure({ name: 'AbortError' }, peer);
        if (deadline.aborted) throw networkFailure({ name: 'TimeoutError' }, peer);
        throw telegramFailure(error, { peer, address, scrub });
      }
    },
    close: () => agent.destroy(),
  };
};
