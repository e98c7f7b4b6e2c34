/**
 * What belongs together at a destination: findings of one transaction are one message, which grows as long as it is
 * recent; what follows an alert stands under it.
 */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import type { Ledger } from '../ledger/ledger.ts';

export interface Earlier {
  /** Of the message that was sent, see `channels/channel.ts`. */
  handle: string;
  /** What it tells, where a message in its place would have to tell it again; empty where it can only be replied to. */
  alerts: Alert[];
}

export interface Threads {
  /** The message that these alerts belong to, where there is one. */
  find(destination: Destination, alerts: readonly Alert[]): Promise<Earlier | undefined>;
  remember(destination: Destination, alerts: readonly Alert[], handle: string): Promise<void>;
  /**
   * Reserves the message that these alerts belong to, or will be: of two that changed it at once, the later would undo the
   * earlier. `'taken'` where another has it, undefined where there is none that could grow; else what ends that.
   */
  claim(destination: Destination, alerts: readonly Alert[]): Promise<(() => Promise<void>) | 'taken' | undefined>;
}

/** A claim whose daemon ended; until then what belongs there stands below it. */
const CLAIM_MS = 60_000;

/** KEYS: the claim; ARGV: whose it is. */
const UNCLAIM = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

/** The transaction that all of `alerts` are findings of. */
export const transactionOf = (alerts: readonly Alert[]): string | undefined => {
  const [first] = alerts;
  const isOne = alerts.every(
    ({ source, txHash, followUp, replay }) =>
      source === 'inspections' && txHash === first?.txHash && followUp === undefined && !replay,
  );
  return isOne ? first?.txHash : undefined;
};

/** `windowMs`: how long after it was sent a message still takes in findings of its transaction. */
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
      const told = await redis.get(keyOf(destination, txHash));
      return told === null ? undefined : (JSON.parse(told) as Earlier);
    },
    remember: async (destination, alerts, handle) => {
      const txHash = growingOf(alerts);
      if (txHash === undefined) return;
      const told = JSON.stringify({ handle, alerts } satisfies { handle: string; alerts: readonly Alert[] });
      await redis.set(keyOf(destination, txHash), told, 'PX', windowMs);
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
