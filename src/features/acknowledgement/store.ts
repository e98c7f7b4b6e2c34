/** What was acknowledged, which message each button belongs to, and what ends where somebody has acknowledged. */
import { randomBytes } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import { chunksOf } from '../../chunks.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { OperatorLog } from '../../ledger/operator-log.ts';
import { type DeliveryRecord, lastFew, ledgerKeys, RETENTION_SECONDS, targetOf } from '../../ledger/record.ts';
import { createWrites } from '../../ledger/writes.ts';
import { execute } from '../../redis/pipeline.ts';
import { iso } from '../../time.ts';
import type { MuteRules } from '../mutes/new-mute.ts';
import type { Names } from '../names/names.ts';
import { type Acknowledgement, whoText } from './words.ts';

/** How long a button or a link works. A later press gets an answer that says so. */
export const WORKS_FOR_MS = 3 * 86_400_000;

export interface ButtonMessage {
  destination: Destination;
  alerts: Alert['id'][];
  /** Of each of these its protocol, where they differ. */
  protocols?: string[];
  /** Epoch milliseconds: when the service wrote the first of them. */
  since?: number;
  /** The detectors that fired, by protocol; left out where they cannot be muted from here. */
  detectors?: [protocol: string, names: string[]][];
  /** Of the transaction whose inspections it shows, while it may grow by more of them. */
  transaction?: string;
  /** As much of it as is needed to change it; left out where it cannot be changed. */
  body?: unknown;
  /** How it is found again; known once it was sent. */
  handle?: string;
}

export type AcknowledgementStore = ReturnType<typeof createAcknowledgementStore>;

export interface AcknowledgementParts {
  store: AcknowledgementStore;
  ledger: Pick<Ledger, 'read'>;
  operatorLog: Pick<OperatorLog, 'record'>;
  muteRules: MuteRules;
  names(): Promise<Names>;
  /** Whether a destination may be sent to: it is approved, or needs no approval. */
  isOpen(): Promise<(destination: Destination) => boolean>;
  /** Whether messages there may have the button that mutes: a mute counts at every destination. */
  mayMute(destination: Destination): Promise<boolean>;
  /** Takes known secrets out of what a provider said. */
  scrub(text: string): string;
  log: Pick<Logger, 'info' | 'warn' | 'error'>;
  signal: AbortSignal;
  /** Resolves early when `signal` aborts; never rejects. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
  now(): number;
}

const AT_ONCE = 500;
const WORKS_FOR_SECONDS = WORKS_FOR_MS / 1000;
/** Every message needs the key. Redis is asked for it again after a while, as it may have been emptied. */
const KEY_GOOD_FOR_MS = 60_000;

/** In Redis: acknowledgements for as long as the ledger keeps an alert, messages for `WORKS_FOR_MS`. */
export const createAcknowledgementStore = (redis: Redis | Cluster, prefix: string, now: () => number) => {
  const keys = {
    key: `${prefix}:button-key`,
    acknowledged: (alert: string): string => `${prefix}:acknowledged:${alert}`,
    message: (token: string): string => `${prefix}:button:${token}`,
    place: (destination: string, handle: string): string => `${prefix}:button-at:${destination}:${handle}`,
  };
  let known: { key: string; at: number } | undefined;

  /** The first daemon that asks makes it up. */
  const readKey = async (): Promise<string> => {
    const present = await redis.get(keys.key);
    if (present !== null) return present;
    const own = randomBytes(32).toString('base64url');
    if ((await redis.set(keys.key, own, 'NX')) === 'OK') return own;
    const other = await redis.get(keys.key);
    if (other === null) throw new Error('Redis lost the key of buttons and links in this moment');
    return other;
  };

  const acknowledged = async (alerts: readonly Alert['id'][]): Promise<Map<Alert['id'], Acknowledgement>> => {
    const found = new Map<string, Acknowledgement>();
    for (const some of chunksOf(alerts, AT_ONCE)) {
      const texts = await redis.mget(...some.map(keys.acknowledged));
      for (const [index, id] of some.entries()) {
        const text = texts[index] ?? null;
        if (text !== null) found.set(id, JSON.parse(text) as Acknowledgement);
      }
    }
    return found;
  };

  return {
    /** What tokens are made with. Rejects where Redis fails. */
    key: async (): Promise<string> => {
      if (known === undefined || Math.abs(now() - known.at) >= KEY_GOOD_FOR_MS)
        known = { key: await readKey(), at: now() };
      return known.key;
    },
    /** The first acknowledgement of each alert stays. Gives the ids of those that nobody had acknowledged. */
    acknowledge: async (alerts: readonly Alert['id'][], by: Acknowledgement): Promise<Alert['id'][]> => {
      const fresh: string[] = [];
      for (const some of chunksOf(alerts, AT_ONCE)) {
        const batch = redis.pipeline();
        for (const id of some) batch.set(keys.acknowledged(id), JSON.stringify(by), 'EX', RETENTION_SECONDS, 'NX');
        const answers = await execute(batch);
        fresh.push(...some.filter((_, index) => answers[index] === 'OK'));
      }
      return fresh;
    },
    acknowledged,
    /** When somebody acknowledged one of these last, in epoch milliseconds; undefined where nobody has. */
    lastAt: async (alerts: readonly Alert['id'][]): Promise<number | undefined> => {
      const times = [...(await acknowledged(alerts)).values()].map(({ at }) => Date.parse(at));
      return times.length === 0 ? undefined : Math.max(...times);
    },
    keepMessage: async (token: string, message: ButtonMessage): Promise<void> => {
      const batch = redis.pipeline().hset(keys.message(token), 'message', JSON.stringify(message));
      await execute(batch.expire(keys.message(token), WORKS_FOR_SECONDS));
    },
    /** It was sent. */
    placeMessage: async (token: string, destination: Destination['id'], handle: string): Promise<void> => {
      const batch = redis.pipeline().hset(keys.message(token), 'handle', handle);
      batch.expire(keys.message(token), WORKS_FOR_SECONDS);
      await execute(batch.set(keys.place(destination, handle), token, 'EX', WORKS_FOR_SECONDS));
    },
    message: async (token: string): Promise<ButtonMessage | undefined> => {
      const { message, handle } = await redis.hgetall(keys.message(token));
      if (message === undefined) return undefined;
      return { ...(JSON.parse(message) as ButtonMessage), ...(handle === undefined ? {} : { handle }) };
    },
    /** The token of the message that was sent there last. */
    tokenAt: async (destination: Destination['id'], handle: string): Promise<string | undefined> =>
      (await redis.get(keys.place(destination, handle))) ?? undefined,
  };
};

const ended = (
  before: DeliveryRecord | undefined,
  destination: Destination,
  who: Acknowledgement,
  at: string,
): DeliveryRecord | undefined => {
  if (before !== undefined && before.state !== 'waiting') return undefined;
  const act = { at, act: 'muted' as const, by: 'acknowledgement', reason: `acknowledged by ${whoText(who)}` };
  const { attempts = [], acts = [] } = before ?? {};
  return { state: 'muted', destination: targetOf(destination), at, attempts, acts: lastFew([...acts, act]) };
};

/**
 * Ends deliveries at the fallback whose alert somebody has acknowledged: nothing is sent, and the ledger has them as
 * `muted`, by `acknowledgement`; one that has ended before stays as it is. Rejects where Redis fails: then nothing more is
 * sent until the job runs again.
 */
export const createEscalations = (
  redis: Redis | Cluster,
  prefix: string,
  store: Pick<AcknowledgementStore, 'acknowledged'>,
  now: () => number,
) => {
  const change = createWrites(redis, ledgerKeys(prefix), now);
  return {
    /** Those of `alerts`, on their way to a destination of the fallback, that nobody has acknowledged. */
    unacknowledged: async (destination: Destination, alerts: readonly Alert[]): Promise<Alert[]> => {
      const known = await store.acknowledged(alerts.map(({ id }) => id));
      const at = iso(now());
      await change(
        alerts.flatMap((alert) => {
          const by = known.get(alert.id);
          if (by === undefined) return [];
          return [{ destination, alert, next: (before) => ended(before, destination, by, at) }];
        }),
      );
      return alerts.filter(({ id }) => !known.has(id));
    },
  };
};
