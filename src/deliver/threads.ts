/**
 * Which messages belong together at a destination. Inspections of one transaction are one message, which grows while it
 * is recent. A follow-up is sent below the alert that it follows.
 */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import type { Ledger } from '../ledger/ledger.ts';

export interface Earlier {
  /** Of the message that was sent, see `channels/channel.ts`. */
  handle: string;
  /** Its alerts, which an amended message has to contain as well; empty where it can only be replied to. */
  alerts: Alert[];
}

export interface Threads {
  /** The message that these alerts belong to, where there is one. */
  find(destination: Destination, alerts: readonly Alert[]): Promise<Earlier | undefined>;
  remember(destination: Destination, alerts: readonly Alert[], handle: string): Promise<void>;
  /**
   * Reserves the message that these alerts belong to, or will be: of two changes at once, the later would undo the earlier.
   * `'taken'` where another job has it, undefined where there is none that could grow; else what ends the claim.
   */
  claim(destination: Destination, alerts: readonly Alert[]): Promise<(() => Promise<void>) | 'taken' | undefined>;
}

/** The claim of a daemon that ended runs out; until then new inspections are sent below the message. */
const CLAIM_MS = 60_000;

/** KEYS: the claim; ARGV: its owner. */
const UNCLAIM = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** The transaction that all of `alerts` are inspections of. */
export const transactionOf = (alerts: readonly Alert[]): string | undefined => {
  const [first] = alerts;
  const isOne = alerts.every(
    ({ source, txHash, followUp, replay }) =>
      source === 'inspections' && txHash === first?.txHash && followUp === undefined && !replay,
  );
  return isOne ? first?.txHash : undefined;
};

/** `windowMs`: how long after it was sent a message still grows by inspections of its transaction. */
export const createThreads = (
  redis: Redis | Cluster,
  prefix: string,
  ledger: Pick<Ledger, 'read'>,
  windowMs: number,
): Threads => {
  const keyOf = ({ id }: Destination, txHash: string): string => `${prefix}:told:${id}:${txHash}`;
  const growingOf = (alerts: readonly Alert[]): string | undefined =>
    windowMs > 0 ? transactionOf(alerts) : undefined;

  const firstOf = async (destination: Destination, alert: string): Promise<Earlier | undefined> => {
    const { deliveries = [] } = (await ledger.read(alert)) ?? {};
    const handle = deliveries.find((one) => one.destination.id === destination.id)?.handle;
    return handle === undefined ? undefined : { handle, alerts: [] };
  };

  return {
    find: async (destination, alerts) => {
      const [first, ...others] = alerts;
      if (first?.followUp && others.length === 0) return firstOf(destination, first.followUp.of);
      const txHash = growingOf(alerts);
      if (txHash === undefined) return undefined;
      const earlier = await redis.get(keyOf(destination, txHash));
      return earlier === null ? undefined : (JSON.parse(earlier) as Earlier);
    },
    remember: async (destination, alerts, handle) => {
      const txHash = growingOf(alerts);
      if (txHash === undefined) return;
      const earlier = JSON.stringify({ handle, alerts } satisfies { handle: string; alerts: readonly Alert[] });
      await redis.set(keyOf(destination, txHash), earlier, 'PX', windowMs);
    },
    claim: async (destination, alerts) => {
      const txHash = growingOf(alerts);
      if (txHash === undefined) return undefined;
      const key = `${keyOf(destination, txHash)}:claim`;
      const owner = randomUUID();
      if (!(await redis.set(key, owner, 'PX', CLAIM_MS, 'NX'))) return 'taken';
      return async () => {
        await redis.eval(UNCLAIM, 1, key, owner);
      };
    },
  };
};
