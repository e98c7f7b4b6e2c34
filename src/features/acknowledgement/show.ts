/** Changes the messages of alerts so that they say who acknowledged them, as they are at that moment. */
import type { Logger } from 'pino';
import type { Alert, Destination } from '../../alert.ts';
import { createBoundedMap, getOrCreate } from '../../bounded-map.ts';
import type { Channel } from '../../channels/channel.ts';
import { mapInChunks } from '../../chunks.ts';
import type { ThreadClaims } from '../../deliver/thread-store.ts';
import { ASK_AGAIN_MS } from '../../deliver/threads.ts';
import { isPassing, messageOf } from '../../errors.ts';
import { contentId } from '../../item.ts';
import { annotationOf } from './annotation.ts';
import type { AcknowledgementParts, ButtonMessage } from './store.ts';

interface ShowDependencies
  extends Pick<
    AcknowledgementParts,
    'store' | 'ledger' | 'muteRules' | 'names' | 'isOpen' | 'scrub' | 'signal' | 'sleep'
  > {
  /** One at a time changes a message that may grow or be assessed again. */
  claims: ThreadClaims;
  channels: readonly Pick<Channel, 'kind' | 'amend' | 'buttons'>[];
  log: Pick<Logger, 'warn'>;
}

interface Place {
  destination: Destination['id'];
  handle: string;
}

const placeKey = ({ destination, handle }: Place): string => `${destination} ${handle}`;

/** A message that cannot be changed in so many tries keeps its button; a press then says who was first. */
const TRIES = 5;
const PAUSE_MS = 2000;
const LONGEST_PAUSE_MS = 60_000;
const ONE_TRY_MS = 15_000;
/** How often to ask for a message that is claimed; a claim that was left behind ends within a minute. */
const MOST_CLAIMED = 100;
/** How many messages are remembered with what they were last to say. */
const MOST_KNOWN = 5000;

/** What a message was to say. */
interface Said {
  digest: string;
  /** How often all tries failed. */
  failures: number;
}

/** A second press repairs a message once. */
const MOST_FAILURES = 2;

const isDone = (said: Said | undefined, digest: string): boolean =>
  said?.digest === digest && (said.failures === 0 || said.failures >= MOST_FAILURES);

interface Plan {
  message: ButtonMessage;
  token: string;
  changed: unknown;
  digest: string;
  amend: NonNullable<Channel['amend']>;
}

/** Gives what changes one message as it is at that moment, as messages grow. It never rejects for what a provider answers. */
const createChange = (dependencies: ShowDependencies) => {
  const { store, claims, channels, isOpen, scrub, log, signal, sleep } = dependencies;
  const said = createBoundedMap<string, Said>(MOST_KNOWN);

  const note = (place: Place, digest: string, failures: number): void =>
    said.set(placeKey(place), { digest, failures });

  const read = async ({ destination, handle }: Place) => {
    const token = await store.tokenAt(destination, handle);
    const message = token === undefined ? undefined : await store.message(token);
    return token === undefined || message === undefined ? undefined : { token, message };
  };

  /** Undefined where there is nothing to change, or it says so already. */
  const planOf = async (place: Place): Promise<Plan | undefined> => {
    const { token, message } = (await read(place)) ?? {};
    const channel = channels.find(({ kind }) => kind === message?.destination.kind);
    if (token === undefined || message?.body === undefined || !channel?.amend || !channel.buttons) return undefined;
    if (!(await isOpen())(message.destination)) return undefined;
    const known = await store.acknowledged(message.alerts);
    const annotation = await annotationOf(token, message, known, dependencies);
    const changed = channel.buttons.put(message.body, annotation);
    const digest = contentId(JSON.stringify(changed) ?? '');
    const plan = { message, token, changed, digest, amend: channel.amend };
    return isDone(said.get(placeKey(place)), digest) ? undefined : plan;
  };

  /**
   * True where it is to say something else by now: it became another while it was changed, or another daemon heard more, and
   * this change has undone that.
   */
  const carryOut = async (place: Place, { message, token, changed, digest, amend }: Plan): Promise<boolean> => {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(ONE_TRY_MS)]);
    const { destination } = message;
    // It is about the same alerts as before; changing a message asks for none.
    await amend(place.handle, { destination, alerts: [], id: token, body: changed, isDigest: false }, limit);
    note(place, digest, 0);
    return (await planOf(place)) !== undefined;
  };

  /** How long to wait before the next try; undefined: there is none. */
  const failed = (place: Place, { message, digest }: Plan, error: unknown, tries: number): number | undefined => {
    if (signal.aborted) return undefined;
    if (tries < TRIES && isPassing(error)) return Math.min(error.retryAfterMs ?? PAUSE_MS, LONGEST_PAUSE_MS);
    const before = said.get(placeKey(place));
    note(place, digest, (before?.digest === digest ? before.failures : 0) + 1);
    const { id, label } = message.destination;
    const why = scrub(messageOf(error));
    log.warn({ destination: id, to: [label], why }, 'a message does not show who acknowledged it');
    return undefined;
  };

  /** One try, while the message is claimed. `nextMs`: how long to wait before the next one, where there is one. */
  const attempt = async (place: Place, tries: number): Promise<{ hasAsked: boolean; nextMs?: number | undefined }> => {
    const plan = await planOf(place);
    if (plan === undefined) return { hasAsked: tries > 1 };
    try {
      const isOutdated = await carryOut(place, plan);
      return { hasAsked: true, nextMs: isOutdated && tries < TRIES ? 0 : undefined };
    } catch (error) {
      return { hasAsked: true, nextMs: failed(place, plan, error, tries) };
    }
  };

  /** Undefined where somebody else is changing it. */
  const claimed = async <T>(place: Place, run: () => Promise<T>): Promise<T | undefined> => {
    const transaction = (await read(place))?.message.transaction;
    if (transaction === undefined) return run();
    const unclaim = await claims.claim(place.destination, transaction);
    if (unclaim === undefined) return undefined;
    try {
      return await run();
    } finally {
      await unclaim();
    }
  };

  /** Tries until it is done, or cannot be; nobody holds the message between two tries. True where the provider was asked. */
  return async (place: Place): Promise<boolean> => {
    let tries = 1;
    for (let waits = 0; waits < MOST_CLAIMED && !signal.aborted; ) {
      const number = tries;
      const tried = await claimed(place, () => attempt(place, number));
      if (tried === undefined) waits += 1;
      else if (tried.nextMs === undefined) return tried.hasAsked;
      else tries += 1;
      await sleep(tried?.nextMs ?? ASK_AGAIN_MS, signal);
    }
    return tries > 1;
  };
};

export type Show = Pick<ReturnType<typeof createShow>, 'alerts' | 'message'>;

/** Changes have no send slots, and share the sender's rate with alerts, which come first. */
const BETWEEN_MS = 1000;
const READ_AT_ONCE = 50;

/**
 * Changes messages in the background: one at a time at each destination, a second apart. A message that is asked for several
 * times while it waits is changed once. Nothing of it rejects; what could not be changed is logged, and keeps its button. `ended` is for a stop.
 */
export const createShow = (dependencies: ShowDependencies) => {
  const { ledger, log, signal, sleep } = dependencies;
  const change = createChange(dependencies);
  const running = new Set<Promise<unknown>>();
  /** What has to be changed at each destination: each message once, and one after the other. */
  const waiting = new Map<Destination['id'], Map<string, Place>>();

  const safely = <T>(work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => {
      if (!signal.aborted) log.warn({ err: error }, 'messages may not show who acknowledged them');
      return undefined;
    });

  const goOn = (work: Promise<void>): void => {
    const safe = safely(work);
    running.add(safe);
    void safe.finally(() => running.delete(safe));
  };

  const run = async (destination: Destination['id'], places: Map<string, Place>): Promise<void> => {
    try {
      // A map gives what is added while it is read; what is added again meanwhile is changed again.
      for (const [key, place] of places) {
        places.delete(key);
        const hasAsked = await safely(change(place));
        if (hasAsked && places.size > 0) await sleep(BETWEEN_MS, signal);
        if (signal.aborted) return;
      }
    } finally {
      waiting.delete(destination);
    }
  };

  const add = (place: Place): void => {
    const isRunning = waiting.has(place.destination);
    const places = getOrCreate(waiting, place.destination, () => new Map());
    places.set(placeKey(place), place);
    if (!isRunning) goOn(run(place.destination, places));
  };

  const placesOf = async (id: Alert['id']): Promise<Place[]> => {
    const { deliveries = [] } = (await ledger.read(id)) ?? {};
    return deliveries.flatMap(({ destination, handle }) =>
      handle === undefined ? [] : [{ destination: destination.id, handle }],
    );
  };

  const find = async (alerts: readonly Alert['id'][]): Promise<void> => {
    const places = (await mapInChunks(alerts, READ_AT_ONCE, placesOf)).flat();
    for (const place of new Map(places.map((one) => [placeKey(one), one])).values()) add(place);
  };

  return {
    /** Says it in every message about these alerts. */
    alerts: (ids: readonly Alert['id'][]): void => goOn(find(ids)),
    /** Says it in the one message that stands there, if it does not say so yet. */
    message: ({ id }: Pick<Destination, 'id'>, handle: string): void => add({ destination: id, handle }),
    /** Everything that was asked for has been tried, or given up as `signal` has aborted. */
    ended: async (): Promise<void> => {
      while (running.size > 0) await Promise.all(running);
    },
  };
};
