/** The inspections and stored notifications of the fake service, by protocol. */
import type { Random } from '../random.ts';
import type {
  InspectionChange,
  InspectionSeed,
  NotificationSeed,
  SandboxInspection,
  SandboxNotification,
  SandboxProtocol,
} from './model.ts';
import { NOT_DETECTED } from './model.ts';

export interface ItemStore {
  insertInspection(protocol: SandboxProtocol, seed: InspectionSeed): SandboxInspection;
  /** Sets `updatedAt` to now unless the change names it. Throws where there is no such inspection. */
  changeInspection(id: string, change: InspectionChange): SandboxInspection;
  removeInspection(id: string): void;
  insertNotification(protocol: SandboxProtocol, seed: NotificationSeed): SandboxNotification;
  removeNotification(id: string): void;
  /** In order of insertion; of every protocol where none is given. */
  inspections(protocol?: SandboxProtocol): readonly SandboxInspection[];
  notifications(protocol?: SandboxProtocol): readonly SandboxNotification[];
}

interface Shelf<Item> {
  add(owner: string, item: Item): void;
  find(id: string): Item | undefined;
  remove(id: string): void;
  list(owner?: string): readonly Item[];
}

/** Keeps the newest `keep` items an owner. */
const createShelf = <Item>(keep: number, idOf: (item: Item) => string): Shelf<Item> => {
  const lists = new Map<string, Item[]>();
  const index = new Map<string, { owner: string; item: Item }>();
  return {
    add: (owner, item) => {
      const list = lists.get(owner) ?? [];
      lists.set(owner, list);
      list.push(item);
      index.set(idOf(item), { owner, item });
      if (list.length <= keep * 1.25) return;
      for (const old of list.splice(0, list.length - keep)) index.delete(idOf(old));
    },
    find: (id) => index.get(id)?.item,
    remove: (id) => {
      const owner = index.get(id)?.owner;
      if (owner === undefined) return;
      index.delete(id);
      lists.set(
        owner,
        (lists.get(owner) ?? []).filter((item) => idOf(item) !== id),
      );
    },
    list: (owner) => (owner === undefined ? [...lists.values()].flat() : (lists.get(owner) ?? [])),
  };
};

const DETECTED = {
  critical: { drasticBalanceChange: { status: 'detected', message: 'The balance fell by 48 % in one transaction.' } },
  suspecious: { newContract: { status: 'detected', message: 'The caller was created 12 blocks ago.' } },
};

const createInspection = (
  protocol: SandboxProtocol,
  seed: InspectionSeed,
  at: number,
  random: Random,
): SandboxInspection => {
  const { apiKey: _, ...fields } = seed;
  const assessment = seed.assessment ?? 'ok';
  const [asset] = protocol.assets;
  const createdAt = seed.createdAt ?? at;
  return {
    _id: random.hex(24),
    chainId: asset?.chainId ?? 1,
    txHash: `0x${random.hex(64)}`,
    txTimestamp: createdAt - 1000,
    txOrigin: `0x${random.hex(40)}`,
    assets: asset ? [{ address: asset.address, descriptor: asset.descriptor }] : [],
    invokedMethodName: 'transfer',
    actions: [],
    detections: structuredClone({
      adminCall: { status: NOT_DETECTED, message: '' },
      ...(assessment === 'critical' || assessment === 'suspecious' ? DETECTED[assessment] : {}),
    }),
    updatedAt: createdAt,
    ...fields,
    protocol: protocol.name,
    assessment,
    createdAt,
  };
};

interface ItemBookOptions {
  random: Random;
  now(): number;
  keepPerProtocol: number;
}

export const createItemStore = ({ random, now, keepPerProtocol }: ItemBookOptions): ItemStore => {
  const inspections = createShelf<SandboxInspection>(keepPerProtocol, ({ _id }) => _id);
  const notifications = createShelf<SandboxNotification>(keepPerProtocol, ({ id }) => id);
  return {
    insertInspection: (protocol, seed) => {
      const inspection = createInspection(protocol, seed, now(), random);
      inspections.add(protocol.protocolId, inspection);
      return inspection;
    },
    changeInspection: (id, change) => {
      const inspection = inspections.find(id);
      if (!inspection) throw new Error(`the sandbox has no inspection ${id}`);
      return Object.assign(inspection, { updatedAt: now() }, change);
    },
    removeInspection: inspections.remove,
    insertNotification: (protocol, { apiKey: _, ...fields }) => {
      const createdAt = fields.createdAt ?? now();
      const notification: SandboxNotification = {
        id: random.hex(24),
        message: 'A critical finding was stored.',
        updatedAt: createdAt,
        ...fields,
        protocol: protocol.name,
        createdAt,
      };
      notifications.add(protocol.protocolId, notification);
      return notification;
    },
    removeNotification: notifications.remove,
    inspections: (protocol) => inspections.list(protocol?.protocolId),
    notifications: (protocol) => notifications.list(protocol?.protocolId),
  };
};
