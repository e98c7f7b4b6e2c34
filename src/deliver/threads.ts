/**
 * Which messages belong together at a destination. Inspections of one transaction are one message, which grows while it
 * is recent, but nobody hears a message grow: what is worse, or of another protocol, is sent by itself. A follow-up is sent
 * below the alert that it follows, whose message then says the new assessment.
 */
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Reassessed } from '../queue/job.ts';
import { RELEASE } from '../redis/lock.ts';

export interface Earlier {
  /** Of the message that was sent, see `channels/channel.ts`. */
  handle: string;
  /** Its alerts, which an amended message has to contain as well; empty where it can only be replied to. */
  alerts: Alert[];
  /** Epoch milliseconds: when it says that it was sent. Absent where it can only be replied to. */
  sentAt?: number;
}

/** How bad people know a transaction to be, for each protocol: entries, as names come from outside. */
type Told = [protocol: string, urgency: number][];

/** What is remembered of a message. */
export interface Remembered extends Earlier {
  /** Epoch milliseconds: until when it takes in inspections of its transaction. */
  growsUntil: number;
  /** By this message and those before it. */
  told: Told;
}

/** The most urgent last; an undocumented word is less urgent than all. */
const URGENCIES: readonly string[] = ['inspection.ok', 'inspection.suspecious', 'inspection.critical'];

const toldBy = (alerts: readonly Alert[], before: Told): Told => {
  const told = new Map(before);
  for (const { protocol, type } of alerts) {
    told.set(protocol, Math.max(told.get(protocol) ?? -1, URGENCIES.indexOf(type)));
  }
  return [...told];
};

/** Something is of a protocol that people have not heard of yet, or worse than they know. */
const isWorseThan = (told: Told, alerts: readonly Alert[]): boolean => {
  const known = new Map(told);
  return alerts.some(({ protocol, type }) => (known.get(protocol) ?? -2) < URGENCIES.indexOf(type));
};

const growing = (known: Remembered | undefined, now: number): Remembered | undefined =>
  known !== undefined && now < known.growsUntil ? known : undefined;

/** The message that takes these in, of what is remembered of their transaction. */
export const takingIn = (
  known: Remembered | undefined,
  alerts: readonly Alert[],
  now: number,
): Remembered | undefined => {
  const earlier = growing(known, now);
  return earlier !== undefined && !isWorseThan(earlier.told, alerts) ? earlier : undefined;
};

/** What to remember when these were sent, in the message that takes them in or by themselves. */
export const afterSent = (
  known: Remembered | undefined,
  alerts: readonly Alert[],
  { handle, sentAt }: Required<Pick<Earlier, 'handle' | 'sentAt'>>,
  { windowMs, now }: { windowMs: number; now: number },
): Remembered => {
  const earlier = takingIn(known, alerts, now);
  return {
    ...{ handle, alerts: [...(earlier?.alerts ?? []), ...alerts], sentAt: earlier?.sentAt ?? sentAt },
    ...{ growsUntil: now + windowMs, told: toldBy(alerts, growing(known, now)?.told ?? []) },
  };
};

/** The claim of a daemon that ended runs out; until then new inspections are sent below the message. */
const CLAIM_MS = 60_000;

/** A job that found its message claimed asks again after this many milliseconds: by then it is changed. */
export const ASK_AGAIN_MS = 700;

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

/** The id of the alert whose message these are sent below, which they do not become a part of. */
const belowOf = ([first, ...others]: readonly Alert[]): Alert['id'] | undefined => {
  if (first?.below === undefined) return others.length === 0 ? first?.followUp?.of : undefined;
  const isOne = others.every(
    ({ below, txHash }) => below !== undefined && txHash !== undefined && txHash === first.txHash,
  );
  return isOne ? first.below : undefined;
};

/** The transaction that all of `alerts` are inspections of. */
export const transactionOf = (alerts: readonly Alert[]): string | undefined => {
  const [first] = alerts;
  const isOne = alerts.every(
    ({ source, txHash, followUp, replay }) =>
      source === 'inspections' && txHash === first?.txHash && followUp === undefined && !replay,
  );
  return isOne ? first?.txHash : undefined;
};

interface ThreadSettings {
  /** How long after it was sent a message still grows by inspections of its transaction, in milliseconds. */
  windowMs: number;
  /** How long after it was sent a message may still have to say a new assessment, in milliseconds. Default: it cannot. */
  keepMs?: number;
  now(): number;
}

/** Larger messages are remembered only while they may grow: Redis would hold each for hours. */
const KEPT_MAX_BYTES = 32_000;

const withChange = (alerts: readonly Alert[], { of, was, is }: Reassessed): Alert[] =>
  alerts.map((alert) =>
    alert.id === of ? { ...alert, reassessed: { was, ...(is === undefined ? {} : { is }) } } : alert,
  );

/** In Redis, for as long as `windowMs` and `keepMs` say. `ledger` knows where an alert's first message is. */
export const createThreads = (
  redis: Redis | Cluster,
  prefix: string,
  ledger: Pick<Ledger, 'read'>,
  { windowMs, keepMs = 0, now }: ThreadSettings,
) => {
  const claims = createThreadClaims(redis, prefix);
  const keyOf = ({ id }: Destination, txHash: string): string => keyIn(prefix, id, txHash);
  const growingOf = (alerts: readonly Alert[]): string | undefined =>
    windowMs > 0 ? transactionOf(alerts) : undefined;

  const firstOf = async (destination: Destination, alert: string): Promise<Earlier | undefined> => {
    const { deliveries = [] } = (await ledger.read(alert)) ?? {};
    const handle = deliveries.find((one) => one.destination.id === destination.id)?.handle;
    return handle === undefined ? undefined : { handle, alerts: [] };
  };

  const recall = async (destination: Destination, txHash: string): Promise<Remembered | undefined> => {
    const json = await redis.get(keyOf(destination, txHash));
    return json === null ? undefined : (JSON.parse(json) as Remembered);
  };

  const changed = async (destination: Destination, change: Reassessed): Promise<Earlier | undefined> => {
    const earlier = await recall(destination, change.txHash);
    return earlier?.alerts.some(({ id }) => id === change.of)
      ? { ...earlier, alerts: withChange(earlier.alerts, change) }
      : undefined;
  };

  return {
    /** The message that these alerts belong to, where there is one. */
    find: async (destination: Destination, alerts: readonly Alert[]): Promise<Earlier | undefined> => {
      const below = belowOf(alerts);
      if (below !== undefined) return firstOf(destination, below);
      const txHash = growingOf(alerts);
      return txHash === undefined ? undefined : takingIn(await recall(destination, txHash), alerts, now());
    },
    /** To be called with what was sent; `sentAt`: where it was sent by itself. */
    remember: async (
      destination: Destination,
      alerts: readonly Alert[],
      sent: { handle: string; sentAt: number },
    ): Promise<void> => {
      const txHash = windowMs > 0 || keepMs > 0 ? transactionOf(alerts) : undefined;
      if (txHash === undefined) return;
      const known = await recall(destination, txHash);
      const json = JSON.stringify(afterSent(known, alerts, sent, { windowMs, now: now() }));
      const forMs = Buffer.byteLength(json) > KEPT_MAX_BYTES ? windowMs : Math.max(windowMs, keepMs);
      if (forMs > 0) await redis.set(keyOf(destination, txHash), json, 'PX', forMs);
    },
    /** The message with an alert that was assessed again, while it can be changed; its alerts say so. */
    reassess: changed,
    /** That message was changed. */
    noteReassessed: async (destination: Destination, change: Reassessed): Promise<void> => {
      const after = await changed(destination, change);
      // It keeps its expiry; if it has just expired, it stays away.
      if (after) await redis.set(keyOf(destination, change.txHash), JSON.stringify(after), 'KEEPTTL', 'XX');
    },
    /**
     * Reserves the message that these alerts belong to, or will be: of two changes at once, the later would undo the earlier.
     * `'taken'` where another job has it, undefined where there is none that could grow; else what ends the claim.
     */
    claim: async (
      destination: Destination,
      alerts: readonly Alert[],
    ): Promise<(() => Promise<void>) | 'taken' | undefined> => {
      const txHash = growingOf(alerts);
      if (txHash === undefined) return undefined;
      return (await claims.claim(destination.id, txHash)) ?? 'taken';
    },
  };
};

export type Threads = ReturnType<typeof createThreads>;
