/**
 * What belongs together at a destination: findings of one transaction are one message, which grows as long as it is
 * recent; what follows an alert stands under it.
 */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import type { Ledger } from './ledger.ts';

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
}

/** The transaction that all of `alerts` are findings of. */
const transactionOf = (alerts: readonly Alert[]): string | undefined => {
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

  const firstOf = async (destination: Destination, alert: string): Promise<Earlier | undefined> => {
    const { deliveries = [] } = (await ledger.read(alert)) ?? {};
    const handle = deliveries.find((one) => one.destination.id === destination.id)?.handle;
    return handle === undefined ? undefined : { handle, alerts: [] };
  };

  return {
    find: async (destination, alerts) => {
      const [first, ...others] = alerts;
      if (first?.followUp && others.length === 0) return firstOf(destination, first.followUp.of);
      const txHash = windowMs > 0 ? transactionOf(alerts) : undefined;
      if (txHash === undefined) return undefined;
      const told = await redis.get(keyOf(destination, txHash));
      return told === null ? undefined : (JSON.parse(told) as Earlier);
    },
    remember: async (destination, alerts, handle) => {
      const txHash = windowMs > 0 ? transactionOf(alerts) : undefined;
      if (txHash === undefined) return;
      const told = JSON.stringify({ handle, alerts } satisfies { handle: string; alerts: readonly Alert[] });
      await redis.set(keyOf(destination, txHash), told, 'PX', windowMs);
    },
  };
};
