/** The fake monitoring service: its eight endpoints over HTTP, with quirks and faults that can change while it runs. */
import { createJournal } from '../journal.ts';
import { createHttpListener, type Exchange, type ListenOptions, urlHost } from '../listener.ts';
import { createListeners } from '../listeners.ts';
import { createRandom } from '../random.ts';
import { createEndpoints } from './endpoints.ts';
import { createFaults, type FaultRule } from './faults.ts';
import { createHandler, type RequestRecord } from './handler.ts';
import type { ProtocolSeed } from './model.ts';
import { createQuirkStore, type Quirks } from './quirks.ts';
import { createServiceState, type ServiceVerbs } from './state.ts';

export interface SandboxServiceOptions extends ListenOptions {
  /** Before every path. Default `/api`. */
  basePath?: string;
  /** Keys and what they own. Default: the key `sandbox-key` with nothing. */
  apiKeys?: readonly { apiKey: string; protocols?: readonly ProtocolSeed[] }[];
  quirks?: Partial<Quirks>;
  faults?: readonly FaultRule[];
  /** Of ids, hashes, shuffles and chances. Default 1. */
  seed?: number | string;
  /** Epoch milliseconds. Default `Date.now`. */
  now?: () => number;
  /** Requests kept in the log. Default 10,000. */
  requestLimit?: number;
  /** What a request gets that is for the sandbox, not for the service; undefined for any other. */
  control?: (exchange: Exchange) => object | undefined;
  /** Inspections kept a protocol, and notifications as well. Default 100,000. */
  keepPerProtocol?: number;
}

export interface SandboxService extends ServiceVerbs {
  /** `url` is the base URL, without a slash at its end. The port stays the same over restarts. */
  start(): Promise<{ url: string; port: number }>;
  stop(): Promise<void>;
  /** Those in force. */
  quirks(): Readonly<Quirks>;
  /** Changes what is named and leaves the rest. */
  changeQuirks(quirks: Partial<Quirks>): void;
  /** Back to what it was created with. */
  resetQuirks(): void;
  /** The first rule that matches a request applies to it. Gives a function that takes the rule back. */
  addFault(rule: FaultRule): () => void;
  clearFaults(): void;
  /** Rules that can still apply. */
  pendingFaults(): number;
  /** Oldest first, each from its arrival on. */
  requests(): RequestRecord[];
  clearRequests(): void;
  /** Called with every request once its answer is on its way: what changes now is seen by the next. Gives a function that ends it. */
  onAnswered(listener: (request: RequestRecord) => void): () => void;
  /** Epoch milliseconds by the service's own clock. */
  now(): number;
}

export const createSandboxService = (options: SandboxServiceOptions = {}): SandboxService => {
  const { basePath = '/api', apiKeys = [{ apiKey: 'sandbox-key' }], seed = 1, host = '127.0.0.1' } = options;
  const { requestLimit = 10_000, keepPerProtocol = 100_000, now: ourNow = Date.now } = options;
  const random = createRandom(`service ${seed}`);
  const quirks = createQuirkStore(options.quirks);
  const now = (): number => ourNow() + quirks.current().clockSkewMs;
  const state = createServiceState({ apiKeys, random, now, keepPerProtocol, quirks });
  const faults = createFaults(createRandom(`faults ${seed}`));
  for (const rule of options.faults ?? []) faults.add(rule);
  const requests = createJournal<RequestRecord>(requestLimit);
  const answered = createListeners<RequestRecord>();
  const endpoints = createEndpoints({
    protocols: state.protocolStore,
    items: state.itemStore,
    random,
    onPage: state.shiftPage,
  });
  const handle = createHandler({
    basePath,
    keys: state.keys,
    endpoints,
    faults,
    quirks: quirks.current,
    requests,
    onAnswered: answered.emit,
    now: ourNow,
  });
  const listener = createHttpListener(options, async (exchange) => {
    const own = options.control?.(exchange);
    if (own === undefined) await handle(exchange);
    else exchange.response.setHeader('content-type', 'application/json').end(`${JSON.stringify(own)}\n`);
  });

  return {
    ...state.verbs,
    start: async () => {
      const port = await listener.start();
      return { port, url: `http://${urlHost(host)}:${port}${basePath}` };
    },
    stop: listener.stop,
    quirks: quirks.current,
    changeQuirks: quirks.change,
    resetQuirks: quirks.reset,
    addFault: faults.add,
    clearFaults: faults.clear,
    pendingFaults: faults.pending,
    requests: requests.list,
    clearRequests: requests.clear,
    onAnswered: answered.add,
    now,
  };
};
