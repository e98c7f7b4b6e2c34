/** What operators did, by commands or on the status page: each writes it down where it acts, and every daemon copies it into its log. */
import type { Cluster, Redis } from 'ioredis';
import { askEach } from '../redis/pipeline.ts';
import { iso } from '../time.ts';

/** A mute as the log names it. Times are ISO 8601. */
interface MuteFacts {
  mute: string;
  what: string;
  reason: string;
  /** Who added it. */
  author?: string;
  until: string;
}

/** A destination as the log names it: its address may hold a secret. */
interface DestinationFacts {
  destination: string;
  to: string;
}

/** A remark that is known, as the log names it. */
type RemarkFacts = { remark: string } & Required<Omit<MuteFacts, 'mute'>>;

interface ActionFacts {
  'mute-begun': MuteFacts;
  /** `extendedBy`: who did that. */
  'mute-extended': MuteFacts & { extendedBy: string };
  'mute-ended': MuteFacts;
  'remark-known': RemarkFacts;
  /** `author`: who had marked it. */
  'remark-counted': RemarkFacts;
  'destination-approved': DestinationFacts & { sent: number };
  'destination-revoked': DestinationFacts;
  'destination-dropped': DestinationFacts & { dropped: number };
  'destination-enabled': DestinationFacts;
  'cursor-moved': { service: string; protocol: string; source: string; movedTo: string; before?: string };
  'dead-retried': { sent: number; held: number; waiting: number; delivered: number; refused: number };
  'dead-dropped': { dropped: number };
  'daemon-forgotten': { daemonHost: string; daemonPid: number };
  'test-sent': DestinationFacts;
  /** `alert`: one of them. `author`: as the messenger or the form calls them. */
  acknowledged: DestinationFacts & { alert: string; acknowledged: number; author: string };
  /** `queued`: deliveries. */
  replayed: { since: string; until: string; queued: number };
}

/**
 * `by`: where the operator did it, if that was not a command: on the status page, by a button of a message, by a mail's
 * link. `user`: who that is for the messenger, or for the proxy in front of the status page.
 */
export type OperatorAction = {
  [Name in keyof ActionFacts]: { action: Name; by?: 'page' | 'button' | 'link'; user?: string } & ActionFacts[Name];
}[keyof ActionFacts];

/** An action with the time at which it was recorded, ISO 8601. */
export type RecordedAction = OperatorAction & { at: string };

/** Daemons read every few seconds; older entries serve nobody. */
const MOST_KEPT = 1000;

const BEGINNING = '0-0';

const actionOf = ([, [, json = '{}']]: [id: string, fields: string[]]): RecordedAction =>
  JSON.parse(json) as RecordedAction;

export const createOperatorLog = (redis: Redis | Cluster, prefix: string, now: () => number, mostKept = MOST_KEPT) => {
  const key = `${prefix}:operator-log`;
  const newest = (most: number) => redis.xrevrange(key, '+', '-', 'COUNT', most);
  return {
    /** Durable when it resolves. */
    record: async (...actions: readonly OperatorAction[]): Promise<void> => {
      if (actions.length === 0) return;
      const at = iso(now());
      await askEach(redis, actions, (batch, action) =>
        batch.xadd(key, 'MAXLEN', mostKept, '*', 'action', JSON.stringify({ ...action, at })),
      );
    },
    /** Where the log ends now; what is recorded later comes after it. */
    end: async (): Promise<string> => (await newest(1))[0]?.[0] ?? BEGINNING,
    /** What was recorded last, newest first. */
    latest: async (most: number): Promise<RecordedAction[]> => (await newest(most)).map(actionOf),
    /** What was recorded after a position, oldest first, and the position to go on from. */
    after: async (position: string): Promise<{ actions: RecordedAction[]; position: string }> => {
      const [stream] = (await redis.xread('STREAMS', key, position)) ?? [];
      const entries = stream?.[1] ?? [];
      return { actions: entries.map(actionOf), position: entries.at(-1)?.[0] ?? position };
    },
  };
};

export type OperatorLog = ReturnType<typeof createOperatorLog>;
