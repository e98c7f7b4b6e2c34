/**
 * Which messages belong together at a destination. Inspections of one transaction are one message, which grows while it
 * is recent. Nobody hears a message grow: what is new in it is owed a reply with a sound. A follow-up is sent below the
 * alert that it follows, whose message then says the new assessment.
 */
import { type Alert, type Destination, firedTexts, isSample, protocolKey } from '../alert.ts';
import type { Growth } from '../channels/channel.ts';
import type { Ledger } from '../ledger/ledger.ts';
import type { Reassessed } from '../queue/job.ts';
import type { Earlier, Remembered, ThreadStore } from './thread-store.ts';

/** What was remembered of messages when a job was begun, by transaction. */
export type Recalled = Map<string, Remembered | undefined>;

/** `quiet`: of alerts that people are to hear of later, as they have just heard twice of their transactions. */
interface Recall {
  known: Recalled;
  quiet?: { alerts: readonly Alert[]; until: number };
}

/** The most urgent last; an undocumented word is less urgent than all. */
const URGENCIES: readonly string[] = ['inspection.ok', 'inspection.suspecious', 'inspection.critical'];

/** As the service calls it now: what was taken back is no reason to stay silent when it comes again. */
const typeNow = ({ type, reassessed }: Alert): string =>
  reassessed === undefined ? type : `inspection.${reassessed.is ?? 'ok'}`;

/** Some are of a protocol that is not among the known, or worse than known of their protocol. */
const isWorseThan = (known: readonly Alert[], alerts: readonly Alert[]): boolean => {
  const urgencies = new Map<string, number>();
  for (const alert of known) {
    const key = protocolKey(alert);
    urgencies.set(key, Math.max(urgencies.get(key) ?? -1, URGENCIES.indexOf(typeNow(alert))));
  }
  return alerts.some((alert) => (urgencies.get(protocolKey(alert)) ?? -2) < URGENCIES.indexOf(alert.type));
};

/** The same, or another detector has fired, or one says something else: the first text may have been a decoy's. */
const isNews = (known: readonly Alert[], alerts: readonly Alert[]): boolean => {
  const texts = new Set(known.flatMap(firedTexts));
  return isWorseThan(known, alerts) || alerts.flatMap(firedTexts).some((text) => !texts.has(text));
};

/** Between two replies below one message, or two repeats of one that cannot grow: many findings make few sounds. */
const BETWEEN_REPLIES_MS = 30_000;

/**
 * Until when people have just heard enough, in epoch milliseconds. The first message delays nothing: else a decoy's finding
 * would hold up the one that matters.
 */
const quietUntil = ({ loudAt, sentAt }: Remembered, now: number): number | undefined =>
  loudAt > sentAt && now >= loudAt && now < loudAt + BETWEEN_REPLIES_MS ? loudAt + BETWEEN_REPLIES_MS : undefined;

/** Samples never wait, as somebody watches for them. Nor does an alert that is older than the wait: none is put off twice. */
const mayWait = (alerts: readonly Alert[], now: number): boolean =>
  alerts.every((alert) => !isSample(alert) && now - Date.parse(alert.readAt) < BETWEEN_REPLIES_MS);

/**
 * When people are to hear what they have only seen, in epoch milliseconds; undefined where there is nothing new. People who
 * have acknowledged look at something else by now: they hear of everything, and at once.
 */
const replyDueAt = (message: Remembered, isAcknowledged: boolean, now: number): number | undefined => {
  const { alerts, heard } = message;
  const unheard = alerts.slice(heard);
  if (unheard.length === 0 || !(isAcknowledged || isNews(alerts.slice(0, heard), unheard))) return undefined;
  return isAcknowledged ? now : (quietUntil(message, now) ?? now);
};

/**
 * A message grows for a while after people last heard of it, and not after it last grew: whoever writes one finding after the
 * other would else keep it growing without a sound.
 */
const growing = (known: Remembered | undefined, { now, windowMs }: { now: number; windowMs: number }) =>
  known !== undefined && now < known.loudAt + windowMs ? known : undefined;

/** A message that was sent: in the place of the earlier one where it has grown, else with a sound. */
interface Sent {
  handle: string;
  sentAt: number;
  grew?: Growth | undefined;
}

/** What to remember when these were sent. */
const afterSent = (
  known: Remembered | undefined,
  alerts: readonly Alert[],
  { handle, sentAt, grew }: Sent,
  time: { now: number; windowMs: number },
): Remembered => {
  const earlier = growing(known, time) ?? { alerts: [], heard: 0, sentAt, loudAt: sentAt };
  const { heard } = earlier;
  const own = { ...earlier, handle };
  return grew
    ? { ...own, alerts: [...earlier.alerts, ...alerts], grew }
    : { ...own, alerts: earlier.alerts.toSpliced(heard, 0, ...alerts), heard: heard + alerts.length, loudAt: sentAt };
};

/** A job that found its message claimed asks again after this many milliseconds: by then it is changed. */
export const ASK_AGAIN_MS = 700;

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
  /** How long after people last heard of it a message still grows by inspections of its transaction, in milliseconds. */
  windowMs: number;
  /** How long after it was sent a message may still have to say a new assessment, in milliseconds. Default: it cannot. */
  keepMs?: number;
  /** How long a reply is tried, in milliseconds. */
  replyWithinMs: number;
  /** When somebody last acknowledged one of these, in epoch milliseconds. Default: nobody ever has. */
  acknowledgedAt?(alerts: readonly Alert['id'][]): Promise<number | undefined>;
  now(): number;
}

const withChange = (alerts: readonly Alert[], { of, was, is }: Reassessed): Alert[] =>
  alerts.map((alert) =>
    alert.id === of ? { ...alert, reassessed: { was, ...(is === undefined ? {} : { is }) } } : alert,
  );

/** A reply that is owed. */
interface Owed {
  message: Remembered;
  /** Epoch milliseconds. */
  dueAt: number;
}

/** `ledger` knows where an alert's first message is. */
export const createThreads = (
  store: ThreadStore,
  ledger: Pick<Ledger, 'read'>,
  { windowMs, keepMs = 0, replyWithinMs, acknowledgedAt, now }: ThreadSettings,
) => {
  const forMs = { small: Math.max(windowMs, keepMs), large: windowMs };
  const growingNow = (known: Remembered | undefined) => growing(known, { now: now(), windowMs });
  const growingOf = (alerts: readonly Alert[]): string | undefined =>
    windowMs > 0 ? transactionOf(alerts) : undefined;

  const firstOf = async (destination: Destination, alert: string): Promise<Earlier | undefined> => {
    const { deliveries = [] } = (await ledger.read(alert)) ?? {};
    const handle = deliveries.find((one) => one.destination.id === destination.id)?.handle;
    return handle === undefined ? undefined : { handle, alerts: [] };
  };

  const recall = async ({ id }: Destination, txHash: string): Promise<Remembered | undefined> =>
    (await store.read(id, [txHash]))[0];

  const changed = async (destination: Destination, change: Reassessed): Promise<Remembered | undefined> => {
    const earlier = await recall(destination, change.txHash);
    return earlier?.alerts.some(({ id }) => id === change.of)
      ? { ...earlier, alerts: withChange(earlier.alerts, change) }
      : undefined;
  };

  /** Since people heard of it last. */
  const isAcknowledged = async ({ alerts, loudAt }: Remembered): Promise<boolean> =>
    ((await acknowledgedAt?.(alerts.map(({ id }) => id))) ?? Number.NEGATIVE_INFINITY) > loudAt;

  /** Until when `alerts` wait, of the transaction of a message that cannot grow; undefined where they do not. */
  const waitOf = async (message: Remembered | undefined, alerts: readonly Alert[]): Promise<number | undefined> => {
    const known = growingNow(message);
    const until = known && mayWait(alerts, now()) ? quietUntil(known, now()) : undefined;
    return known && until !== undefined && !(await isAcknowledged(known)) ? until : undefined;
  };

  const owedAt = async (message: Remembered | undefined): Promise<Owed | undefined> => {
    if (message === undefined || message.heard >= message.alerts.length) return undefined;
    const dueAt = replyDueAt(message, await isAcknowledged(message), now());
    return dueAt === undefined ? undefined : { message, dueAt };
  };

  return {
    /** Of messages that cannot grow, in one trip: what `find` is to be given, and what waits. */
    recall: async (destination: Destination, alerts: readonly Alert[]): Promise<Recall> => {
      const byHash = Map.groupBy(alerts, (alert) => growingOf([alert]) ?? '');
      byHash.delete('');
      const hashes = [...byHash.keys()];
      const found = hashes.length === 0 ? [] : await store.read(destination.id, hashes);
      const waits = await Promise.all(found.map((one, index) => waitOf(one, byHash.get(hashes[index] ?? '') ?? [])));
      const quiet = hashes.flatMap((hash, index) => (waits[index] === undefined ? [] : (byHash.get(hash) ?? [])));
      return {
        known: new Map(hashes.map((hash, index) => [hash, found[index]])),
        ...(quiet.length === 0 ? {} : { quiet: { alerts: quiet, until: Math.max(...waits.map((ms = 0) => ms)) } }),
      };
    },
    /** The message that these alerts belong to, where there is one. `recalled`: what need not be read again; what is read is added. */
    find: async (
      destination: Destination,
      alerts: readonly Alert[],
      canGrow: boolean,
      recalled: Recalled = new Map(),
    ): Promise<Earlier | undefined> => {
      const below = belowOf(alerts);
      if (below !== undefined) return firstOf(destination, below);
      const txHash = growingOf(alerts);
      if (txHash === undefined) return undefined;
      if (!recalled.has(txHash)) recalled.set(txHash, await recall(destination, txHash));
      const known = growingNow(recalled.get(txHash));
      return known && !canGrow ? { ...known, isOutdone: isWorseThan(known.alerts, alerts) } : known;
    },
    /** To be called with what was sent. `recalled`: what nobody else has changed since, as the message is claimed. */
    remember: async (
      destination: Destination,
      alerts: readonly Alert[],
      sent: Sent,
      recalled: Recalled = new Map(),
    ): Promise<void> => {
      const txHash = windowMs > 0 || keepMs > 0 ? transactionOf(alerts) : undefined;
      if (txHash === undefined) return;
      const known = recalled.has(txHash) ? recalled.get(txHash) : await recall(destination, txHash);
      await store.write(destination.id, txHash, afterSent(known, alerts, sent, { windowMs, now: now() }), forMs);
    },
    /** The message with an alert that was assessed again, while it can be changed; its alerts say so. */
    reassess: changed,
    /** That message was changed. */
    noteReassessed: async (destination: Destination, change: Reassessed): Promise<void> => {
      const after = await changed(destination, change);
      if (after) await store.write(destination.id, change.txHash, after);
    },
    /** The transactions of `alerts` at whose messages a reply is owed; they are remembered until it is sent. */
    owed: async (destination: Destination, alerts: readonly Alert[]): Promise<string[]> => {
      const hashes = [...new Set(alerts.flatMap((alert) => growingOf([alert]) ?? []))];
      if (hashes.length === 0) return [];
      const owed = await Promise.all((await store.read(destination.id, hashes)).map(owedAt));
      const owing = hashes.filter((_, index) => owed[index] !== undefined);
      await Promise.all(owing.map((hash) => store.keep(destination.id, hash, Math.max(forMs.small, replyWithinMs))));
      return owing;
    },
    /** What is new in a message, where a reply is owed. */
    reply: async (destination: Destination, txHash: string): Promise<Owed | undefined> =>
      owedAt(await recall(destination, txHash)),
    /** That reply was sent. */
    noteReply: async (destination: Destination, txHash: string, { alerts }: Remembered): Promise<void> => {
      const known = await recall(destination, txHash);
      if (known === undefined) return;
      const heard = Math.max(known.heard, alerts.length);
      await store.write(destination.id, txHash, { ...known, heard, loudAt: now() }, forMs);
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
      return (await store.claim(destination.id, txHash)) ?? 'taken';
    },
  };
};

export type Threads = ReturnType<typeof createThreads>;
