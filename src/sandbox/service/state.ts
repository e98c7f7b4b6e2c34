/** What the fake service holds, and the verbs that change it from outside. */
import { createListeners } from '../listeners.ts';
import type { Random } from '../random.ts';
import type { Call } from './endpoints.ts';
import { directionOf } from './filters.ts';
import { createItemStore, type ItemStore } from './items.ts';
import type {
  InspectionChange,
  InspectionSeed,
  NotificationSeed,
  ProtocolChange,
  ProtocolRef,
  ProtocolSeed,
  SandboxChannel,
  SandboxInspection,
  SandboxNotification,
  SandboxProtocol,
} from './model.ts';
import { createProtocolStore, type ProtocolStore } from './protocols.ts';
import type { QuirkStore } from './quirks.ts';

/** An item that was inserted, or an inspection as it is after a change. */
export type ProducedItem =
  | { source: 'inspections'; item: SandboxInspection }
  | { source: 'notifications'; item: SandboxNotification };

export interface ServiceVerbs {
  addProtocol(apiKey: string, seed: ProtocolSeed): SandboxProtocol;
  removeProtocol(ref: ProtocolRef): void;
  replaceChannels(ref: ProtocolRef, channels: readonly SandboxChannel[]): void;
  changeProtocol(ref: ProtocolRef, change: ProtocolChange): void;
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
  /** Called with every item inserted and every inspection changed. Gives a function that ends it. */
  onProduced(listener: (produced: ProducedItem) => void): () => void;
}

interface ServiceState {
  keys: ReadonlySet<string>;
  protocolStore: ProtocolStore;
  itemStore: ItemStore;
  verbs: ServiceVerbs;
  /** Plays the quirk `shiftPages` once a page is answered. */
  shiftPage(protocol: SandboxProtocol, first: SandboxInspection, call: Call): void;
}

interface StateDependencies {
  apiKeys: readonly { apiKey: string; protocols?: readonly ProtocolSeed[] }[];
  random: Random;
  /** The service's clock. */
  now(): number;
  keepPerProtocol: number;
  quirks: QuirkStore;
}

export const createServiceState = (parts: StateDependencies): ServiceState => {
  const protocolStore = createProtocolStore(parts);
  const itemStore = createItemStore(parts);
  const listeners = createListeners<ProducedItem>();
  const keys = new Set<string>();

  const produce = <Produced extends ProducedItem>(produced: Produced): Produced['item'] => {
    listeners.emit(produced);
    return produced.item;
  };

  const insertInspection = (seed: InspectionSeed = {}): SandboxInspection =>
    produce({ source: 'inspections', item: itemStore.insertInspection(protocolStore.resolve(seed), seed) });

  const addProtocol = (apiKey: string, protocol: ProtocolSeed): SandboxProtocol => {
    keys.add(apiKey);
    return protocolStore.add(apiKey, protocol);
  };

  for (const { apiKey, protocols = [] } of parts.apiKeys) {
    keys.add(apiKey);
    for (const protocol of protocols) addProtocol(apiKey, protocol);
  }

  return {
    keys,
    protocolStore,
    itemStore,
    shiftPage: ({ apiKey, name }, first, { query, quirks }) => {
      if (quirks.shiftPages <= 0) return;
      parts.quirks.change({ shiftPages: quirks.shiftPages - 1 });
      const step = directionOf(query, quirks) === 'asc' ? -1 : 1;
      const { _id: _, txHash: __, ...alike } = first;
      insertInspection({ ...alike, [quirks.sortField]: first[quirks.sortField] + step, protocol: name, apiKey });
    },
    verbs: {
      addProtocol,
      removeProtocol: protocolStore.remove,
      replaceChannels: (ref, channels) => protocolStore.replaceChannels(protocolStore.resolve(ref), channels),
      changeProtocol: (ref, change) => protocolStore.change(protocolStore.resolve(ref), change),
      protocols: protocolStore.list,
      insertInspection,
      changeInspection: (id, change) =>
        produce({ source: 'inspections', item: itemStore.changeInspection(id, change) }),
      removeInspection: itemStore.removeInspection,
      insertNotification: (seed = {}) =>
        produce({ source: 'notifications', item: itemStore.insertNotification(protocolStore.resolve(seed), seed) }),
      removeNotification: itemStore.removeNotification,
      inspections: (ref) => [...itemStore.inspections(ref && protocolStore.resolve(ref))],
      notifications: (ref) => [...itemStore.notifications(ref && protocolStore.resolve(ref))],
      onProduced: listeners.add,
    },
  };
};
