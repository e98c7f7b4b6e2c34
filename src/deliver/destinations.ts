/** What receivers changed of their destinations: new addresses, and that they want nothing more. Redis remembers both. */
import type { Cluster, Redis } from 'ioredis';
import type { Destination } from '../alert.ts';
import { type Target, targetOf } from '../ledger/record.ts';
import { mayExist } from '../redis/pipeline.ts';

/** New addresses, as the provider said: used from then on, even if the service still lists the old ones. */
export const createAddressChanges = (redis: Redis | Cluster, prefix: string) => {
  const key = `${prefix}:addresses`;
  return {
    /** The destination with the address that it has now. */
    follow: async (destination: Destination): Promise<Destination> => {
      const address = (await mayExist(redis, key)) ? await redis.hget(key, destination.id) : null;
      return address === null ? destination : { ...destination, address };
    },
    note: async ({ id }: Destination, address: string): Promise<void> => {
      await redis.hset(key, id, address);
    },
    forget: async (id: Destination['id']): Promise<void> => {
      await redis.hdel(key, id);
    },
  };
};

export type AddressChanges = ReturnType<typeof createAddressChanges>;

export interface DisabledDestination extends Target {
  /** ISO 8601. */
  at: string;
  /** What the receiver said, in a sentence without secrets. */
  message: string;
}

const parse = (json: string): DisabledDestination => JSON.parse(json) as DisabledDestination;

/** Destinations that their receiver disabled: deliveries to them die at once, until somebody enables them again. */
export const createDisabled = (redis: Redis | Cluster, prefix: string) => {
  const key = `${prefix}:disabled`;
  return {
    find: async (id: Destination['id']): Promise<DisabledDestination | undefined> => {
      const json = (await mayExist(redis, key)) ? await redis.hget(key, id) : null;
      return json === null ? undefined : parse(json);
    },
    disable: async (destination: Destination, at: string, message: string): Promise<void> => {
      const disabled: DisabledDestination = { ...targetOf(destination), at, message };
      await redis.hsetnx(key, destination.id, JSON.stringify(disabled));
    },
    /** False where it was not disabled. */
    enable: async (id: Destination['id']): Promise<boolean> => (await redis.hdel(key, id)) === 1,
    /** Latest first. */
    list: async (): Promise<DisabledDestination[]> =>
      (await redis.hvals(key)).map(parse).toSorted((a, b) => b.at.localeCompare(a.at)),
  };
};

export type Disabled = ReturnType<typeof createDisabled>;
