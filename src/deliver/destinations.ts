/** What receivers changed of their destinations: new addresses, and that they want nothing more. Redis remembers both. */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../alert.ts';
import { type Target, targetOf } from '../ledger/record.ts';

// New addresses of destinations, as their provider said: used from then on, whatever the service still lists.

export interface AddressChanges {
  /** The destination with the address that it has now. */
  follow(destination: Destination): Promise<Destination>;
  note(destination: Destination, address: string): Promise<void>;
}

export interface AddressCleanup {
  forget(id: Destination['id']): Promise<void>;
}

export const createAddressChanges = (redis: Redis | Cluster, prefix: string): AddressChanges & AddressCleanup => {
  const key = `${prefix}:moves`;
  return {
    follow: async (destination) => {
      const address = await redis.hget(key, destination.id);
      return address === null ? destination : { ...destination, address };
    },
    note: async ({ id }, address) => {
      await redis.hset(key, id, address);
    },
    forget: async (id) => {
      await redis.hdel(key, id);
    },
  };
};

// Destinations that their receiver disabled: deliveries to them die at once, until somebody enables them again.

export interface DisabledDestination extends Target {
  /** ISO 8601. */
  at: string;
  /** What the receiver said, in a sentence without secrets. */
  message: string;
}

export interface Disabled {
  find(id: Destination['id']): Promise<DisabledDestination | undefined>;
  disable(destination: Destination, at: string, message: string): Promise<void>;
  /** False where it was not disabled. */
  enable(id: Destination['id']): Promise<boolean>;
  /** Latest first. */
  list(): Promise<DisabledDestination[]>;
}

const parse = (json: string): DisabledDestination => JSON.parse(json) as DisabledDestination;

export const createDisabled = (redis: Redis | Cluster, prefix: string): Disabled => {
  const key = `${prefix}:disabled`;
  return {
    find: async (id) => {
      const json = await redis.hget(key, id);
      return json === null ? undefined : parse(json);
    },
    disable: async (destination, at, message) => {
      const disabled: DisabledDestination = { ...targetOf(destination), at, message };
      await redis.hsetnx(key, destination.id, JSON.stringify(disabled));
    },
    enable: async (id) => (await redis.hdel(key, id)) === 1,
    list: async () =>
      Object.values(await redis.hgetall(key))
        .map(parse)
        .toSorted((a, b) => b.at.localeCompare(a.at)),
  };
};
