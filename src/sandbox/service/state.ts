/** What the fake service holds, and the verbs that change it from outside. */
import { createListeners } from '../listeners.ts';
import type { Random } from '../random.ts';
import type { Call } from './endpoints.ts';
import { directionOf } from './filters.ts';
import { createItemBook, type ItemBook } from './items.ts';
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
import { createProtocolBook, type ProtocolBook } from './protocols.ts';
import type { QuirkBook } from './quirks.ts';

/** An item that was inserted, or an inspection as it is after a change. */
export type ProducedItem =
  | { source: 'inspections'; item: SandboxInspection }
  | { source: 'notifications'; item: SandboxNotification };

export interface ServiceVerbs {
  addProtocol(apiKey: string, seed: ProtocolSeed): SandboxProtocol;
  removeProtocol(ref: ProtocolRef): void;
  replaceChannels(ref: ProtocolRef, channels: readonly SandboxChannel[]): void;
  protocols(apiKey?: string): SandboxProtocol[];
  /** Everything left out is made up; `protocol` is the first where not given. Throws where there is no such protocol. */
  insertInspection(seed?: InspectionSeed): SandboxInspection;
  /** Sets `updatedAt` to now unless the change names it. Throws where there is no such inspection. */
  changeInspection(id: string, change: InspectionChange): SandboxInspection;
  removeInspection(id: string): void;
  insertNotification(seed?: NotificationSeed): SandboxNotification;
  removeNotification(id: string): void;
  /** What was produced and not removed, in order of insertion. */
  inspections(ref?: ProtocolRef): SandboxInspection[];
  notifications(ref?: ProtocolRef): SandboxNotification[];
  /** Told of every item inserted and every inspection changed. Gives a function that ends it. */
  onProduced(listener: (produced: ProducedItem) => void): () => void;
}

export interface ServiceState {
  keys: ReadonlySet<string>;
  protocolBook: ProtocolBook;
  itemBook: ItemBook;
  verbs: ServiceVerbs;
  /** Plays the quirk `shiftPages` once a page is answered. */
  shiftPage(protocol: SandboxProtocol, first: SandboxInspection, call: Call): void;
}

export interface StateDependencies {
  apiKeys: readonly { apiKey: string; protocols?: readonly ProtocolSeed[] }[];
  random: Random;
  /** The service's clock. */
  now(): number;
  keepPerProtocol: number;
  quirks: QuirkBook;
}

export const createServiceState = (parts: StateDependencies): ServiceState => {
  const protocolBook = createProtocolBook(parts);
  const itemBook = createItemBook(parts);
  const listeners = createListeners<ProducedItem>();
  const keys = new Set<string>();

  const tell = <Produced extends ProducedItem>(produced: Produced): Produced['item'] => {
    listeners.tell(produced);
    return produced.item;
  };

  const insertInspection = (seed: InspectionSeed = {}): SandboxInspection =>
    tell({ source: 'inspections', item: itemBook.insertInspection(protocolBook.resolve(seed), seed) });

  const addProtocol = (apiKey: string, protocol: ProtocolSeed): SandboxProtocol => {
    keys.add(apiKey);
    return protocolBook.add(apiKey, protocol);
  };

  for (const { apiKey, protocols = [] } of parts.apiKeys) {
    keys.add(apiKey);
    for (const protocol of protocols) addProtocol(apiKey, protocol);
  }

  return {
    keys,
    protocolBook,
    itemBook,
    shiftPage: ({ apiKey, name }, first, { query, quirks }) => {
      if (quirks.shiftPages <= 0) return;
      parts.quirks.change({ shiftPages: quirks.shiftPages - 1 });
      const step = directionOf(query, quirks) === 'asc' ? -1 : 1;
      const { _id: _, txHash: __, ...alike } = first;
      insertInspection({ ...alike, [quirks.sortField]: first[quirks.sortField] + step, protocol: name, apiKey });
    },
    verbs: {
      addProtocol,
      removeProtocol: protocolBook.remove,
      replaceChannels: (ref, channels) => protocolBook.replaceChannels(protocolBook.resolve(ref), channels),
      protocols: protocolBook.list,
      insertInspection,
      changeInspection: (id, change) => tell({ source: 'inspections', item: itemBook.changeInspection(id, change) }),
      removeInspection: itemBook.removeInspection,
      insertNotification: (seed = {}) =>
        tell({ source: 'notifications', item: itemBook.insertNotification(protocolBook.resolve(seed), seed) }),
      removeNotification: itemBook.removeNotification,
      inspections: (ref) => [...itemBook.inspections(ref && protocolBook.resolve(ref))],
      notifications: (ref) => [...itemBook.notifications(ref && protocolBook.resolve(ref))],
      onProduced: listeners.add,
    },
  };
};
