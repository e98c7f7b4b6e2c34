/** A plain client of the sandbox's service: no retries, no decoding beyond JSON. */
import { fetch, type Headers } from 'undici';
import { onTestFinished } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/sandbox/json.ts';
import {
  createSandboxService,
  type SandboxService,
  type SandboxServiceOptions,
} from '../../src/sandbox/service/service.ts';

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

export interface Client {
  send(method: string, path: string, body?: unknown, apiKey?: string): Promise<Reply>;
  get(path: string): Promise<Reply>;
  /** The parsed body of a 200. */
  json(path: string): Promise<JsonValue>;
  /** The wrapper of a page. */
  page(path: string): Promise<Page>;
  /** `_id` or `message` of every item in the page. */
  names(path: string): Promise<string[]>;
}

export interface Page {
  page: JsonObject[];
  pageNumber?: number | string;
  total?: number;
}

export const API_KEY = 'key-one';

export const nameOf = (name: string): string => encodeURIComponent(name);

export const createClient = (url: string): Client => {
  const send = async (method: string, path: string, body?: unknown, apiKey = API_KEY): Promise<Reply> => {
    const response = await fetch(`${url}${path}`, {
      method,
      redirect: 'manual',
      headers: { authorization: `Bearer ${apiKey}`, accept: 'application/json', 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  const json = async (path: string): Promise<JsonValue> => {
    const { status, text } = await send('GET', path);
    if (status !== 200) throw new Error(`${status} ${text}`);
    return JSON.parse(text) as JsonValue;
  };
  const page = async (path: string): Promise<Page> => (await json(path)) as unknown as Page;
  return {
    send,
    get: (path) => send('GET', path),
    json,
    page,
    names: async (path) => (await page(path)).page.map((item) => String(item._id ?? item.message)),
  };
};

export interface Rig {
  service: SandboxService;
  client: Client;
  url: string;
}

export const ASSETS = [
  { chainId: 1, address: '0xAAAA000000000000000000000000000000000001', descriptor: 'Pool' },
  { chainId: 10, address: '0xBBBB000000000000000000000000000000000002', descriptor: 'Oracle' },
];

/** A running service that is stopped when the test ends. Its key owns `Lending Pool` and `Vault`. */
export const startService = async (options: Partial<SandboxServiceOptions> = {}): Promise<Rig> => {
  const service = createSandboxService({
    apiKeys: [{ apiKey: API_KEY, protocols: [{ name: 'Lending Pool', assets: ASSETS }, { name: 'Vault' }] }],
    ...options,
  });
  onTestFinished(() => service.stop());
  const { url } = await service.start();
  return { service, client: createClient(url), url };
};
