/** The fake monitoring service: its eight endpoints over HTTP, with quirks and faults that can change while it runs. */
import { createJournal } from '../journal.ts';
import { createHttpListener, type ListenOptions, urlHost } from '../listener.ts';
import { createListeners } from '../listeners.ts';
import { createRandom } from '../random.ts';
import { type Call, createEndpoints } from './endpoints.ts';
import { createFaults, type FaultRule } from './faults.ts';
import { createHandler, type RequestRecord } from './handler.ts';
import { createItemBook } from './items.ts';
import type {
  InspectionChange,
  InspectionSeed,
  NotificationSeed,
  ProtocolRef,
  ProtocolSeed,
  SandboxChannel,
  SandboxInspection,
  SandboxNotification,
  SandboxProtocol,
} from './model.ts';
import { createProtocolBook } from './protocols.ts';
import { createQuirkBook, type Quirks } from './quirks.ts';

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
  /** Inspections kept a protocol, and notifications as well. Default 100,000. */
  keepPerProtocol?: number;
}

/** An item that was inserted, or an inspection as it is after a change. */
export type ProducedItem =
  | { source: 'inspections'; item: SandboxInspection }
  | { source: 'notifications'; item: SandboxNotification };

export interface SandboxService {
  /** `url` is the base URL, without a slash at its end. The port stays the same over restarts. */
  start(): Promise<{ url: string; port: number }>;
  stop(): Promise<void>;
  /** Those in force. */
  quirks(): Readonly<Quirks>;
  changeQuirks(quirks: Partial<Quirks>): void;
  resetQuirks(): void;
  /** Gives a function that takes the fault back. */
  addFault(rule: FaultRule): () => void;
  clearFaults(): void;
  /** Rules that have strikes left. */
  pendingFaults(): number;
  addProtocol(apiKey: string, seed: ProtocolSeed): SandboxProtocol;
  removeProtocol(ref: ProtocolRef): void;
  replaceChannels(ref: ProtocolRef, channels: readonly SandboxChannel[]): void;
  protocols(apiKey?: string): SandboxProtocol[];
  /** Everything left out is made up; `protocol` is the first where not given. */
  insertInspection(seed?: InspectionSeed): SandboxInspection;
  changeInspection(id: string, change: InspectionChange): SandboxInspection;
  removeInspection(id: string): void;
  insertNotification(seed?: NotificationSeed): SandboxNotification;
  removeNotification(id: string): void;
  /** What was produced and not removed, in order of insertion. */
  inspections(ref?: ProtocolRef): SandboxInspection[];
  notifications(ref?: ProtocolRef): SandboxNotification[];
  requests(): RequestRecord[];
  clearRequests(): void;
  /** Told of every item inserted and every inspection changed. Gives a function that ends it. */
  onProduced(listener: (produced: ProducedItem) => void): () => void;
  /** Epoch milliseconds by the service's own clock. */
  now(): number;
}

export const createSandboxService = (options: SandboxServiceOptions = {}): SandboxService => {
  const { basePath = '/api', apiKeys = [{ apiKey: 'sandbox-key' }], seed = 1, host = '127.0.0.1' } = options;
  const { requestLimit = 10_000, keepPerProtocol = 100_000 } = options;
  const ourNow = options.now ?? Date.now;
  const random = createRandom(`service ${seed}`);
  const quirks = createQuirkBook(options.quirks);
  const now = (): number => ourNow() + quirks.current().clockSkewMs;
  const faults = createFaults(createRandom(`faults ${seed}`));
  const protocols = createProtocolBook({ random, now });
  const items = createItemBook({ random, now, keepPerProtocol });
  const requests = createJournal<RequestRecord>(requestLimit);
  const listeners = createListeners<ProducedItem>();
  const keys = new Set<string>();

  const tell = <Produced extends ProducedItem>(produced: Produced): Produced['item'] => {
    listeners.tell(produced);
    return produced.item;
  };

  const insertInspection = (seedOf: InspectionSeed = {}): SandboxInspection =>
    tell({ source: 'inspections', item: items.insertInspection(protocols.resolve(seedOf), seedOf) });

  const addProtocol = (apiKey: string, protocol: ProtocolSeed): SandboxProtocol => {
    keys.add(apiKey);
    return protocols.add(apiKey, protocol);
  };

  const shiftPage = (protocol: SandboxProtocol, first: SandboxInspection, { query, quirks: inForce }: Call): void => {
    if (inForce.shiftPages <= 0) return;
    quirks.change({ shiftPages: inForce.shiftPages - 1 });
    const step = (query.one('sort') ?? inForce.defaultSort) === 'asc' ? -1 : 1;
    const { _id: _, txHash: __, ...alike } = first;
    const { apiKey, name } = protocol;
    insertInspection({ ...alike, [inForce.sortField]: first[inForce.sortField] + step, protocol: name, apiKey });
  };

  for (const { apiKey, protocols: seeds = [] } of apiKeys) {
    keys.add(apiKey);
    for (const protocol of seeds) addProtocol(apiKey, protocol);
  }
  for (const rule of options.faults ?? []) faults.add(rule);

  const listener = createHttpListener(
    options,
    createHandler({
      basePath,
      keys,
      endpoints: createEndpoints({ protocols, items, random, onPage: shiftPage }),
      faults,
      quirks: quirks.current,
      requests,
      now: ourNow,
    }),
  );

  return {
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
    addProtocol,
    removeProtocol: protocols.remove,
    replaceChannels: (ref, channels) => protocols.replaceChannels(protocols.resolve(ref), channels),
    protocols: protocols.list,
    insertInspection,
    changeInspection: (id, change) => tell({ source: 'inspections', item: items.changeInspection(id, change) }),
    removeInspection: items.removeInspection,
    insertNotification: (seedOf = {}) =>
      tell({ source: 'notifications', item: items.insertNotification(protocols.resolve(seedOf), seedOf) }),
    removeNotification: items.removeNotification,
    inspections: (ref) => items.inspections(ref && protocols.resolve(ref)),
    notifications: (ref) => items.notifications(ref && protocols.resolve(ref)),
    requests: requests.list,
    clearRequests: requests.clear,
    onProduced: listeners.add,
    now,
  };
};
