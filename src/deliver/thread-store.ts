/** What is remembered of sent messages, by destination and transaction, and who may change one now. */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import type { Growth } from '../channels/channel.ts';
import { RELEASE } from '../redis/lock.ts';

export interface Earlier {
  /** Of the message that was sent, see `channels/channel.ts`. */
  handle: string;
  /** Its alerts, which an amended message has to contain as well; empty where it can only be replied to. */
  alerts: Alert[];
  /** Epoch milliseconds: when it says that it was sent. Absent where it can only be replied to. */
  sentAt?: number;
  /** Absent where it has not. */
  grew?: Growth;
  /** It cannot grow, and what is found now is of another protocol, or worse than it says of its protocol. */
  isOutdone?: boolean;
}

/** What is remembered of a message. */
export interface Remembered extends Earlier {
  sentAt: number;
  /** How many of its alerts, from the first, people have heard of with a sound. */
  heard: number;
  /** Epoch milliseconds: when they last did. */
  loudAt: number;
}

/** The claim of a daemon that ended runs out; until then new inspections are sent below the message. */
const CLAIM_MS = 60_000;

const keyIn = (prefix: string, destination: Destination['id'], txHash: string): string =>
  `${prefix}:thread:${destination}:${txHash}`;

/** Reserves a message that grows, over all daemons. */
export const createThreadClaims = (redis: Redis | Cluster, prefix: string) => ({
  /** Of the message about a transaction. Gives what ends the claim; undefined where somebody else has it. */
  claim: async (destination: Destination['id'], txHash: string): Promise<(() => Promise<void>) | undefined> => {
    const key = `${keyIn(prefix, destination, txHash)}:claim`;
    const owner = randomUUID();
    if (!(await redis.set(key, owner, 'PX', CLAIM_MS, 'NX'))) return undefined;
    return async () => {
      await redis.eval(RELEASE, 1, key, owner);
    };
  },
});

export type ThreadClaims = ReturnType<typeof createThreadClaims>;

/** Where messages are remembered, by destination and transaction. */
export interface ThreadStore extends ThreadClaims {
  read(destination: Destination['id'], hashes: readonly string[]): Promise<(Remembered | undefined)[]>;
  /** `forMs`: of a small message, and of a large one. Left out: it keeps its expiry; if it has just expired, it stays away. */
  write(
    destination: Destination['id'],
    txHash: string,
    known: Remembered,
    forMs?: { small: number; large: number },
  ): Promise<void>;
  keep(destination: Destination['id'], txHash: string, forMs: number): Promise<void>;
}

/** Larger messages are remembered only while they may grow: Redis would hold each for hours. */
const LARGE_BYTES = 32_000;

export const createThreadStore = (redis: Redis | Cluster, prefix: string): ThreadStore => ({
  ...createThreadClaims(redis, prefix),
  read: async (destination, hashes) => {
    const found = await redis.mget(...hashes.map((hash) => keyIn(prefix, destination, hash)));
    return found.map((json) => (json === null ? undefined : (JSON.parse(json) as Remembered)));
  },
  write: async (destination, txHash, known, forMs) => {
    const key = keyIn(prefix, destination, txHash);
    const json = JSON.stringify(known);
    const ms = forMs && (Buffer.byteLength(json) > LARGE_BYTES ? forMs.large : forMs.small);
    if (ms === undefined) await redis.set(key, json, 'KEEPTTL', 'XX');
    else if (ms > 0) await redis.set(key, json, 'PX', ms);
  },
  keep: async (destination, txHash, forMs) => void (await redis.pexpire(keyIn(prefix, destination, txHash), forMs)),
});
