/** New addresses of destinations, as their provider said: used from then on, whatever the service still lists. */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../alert.ts';

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
