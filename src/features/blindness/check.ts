/** Notices services and protocols that are not read, and has each announced once over all daemons. */
import type { Destination } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import type { Track } from '../../poll/cursor.ts';
import type { ReadWatch } from '../../poll/read-watch.ts';
import { iso } from '../../time.ts';
import type { Announcer, Beginning, Ending, Group } from '../conditions/announcer.ts';
import { type Announced, fewOf, GROUPS, type Over, overFacts } from '../conditions/store.ts';
import { type Changes, changesOf, isBack, type Limits, type Reading, WHOLE } from './changes.ts';
import { type CaughtUp, readAgainText, unreadText } from './message.ts';

interface BlindnessCheckDependencies {
  watch: Pick<ReadWatch, 'look'>;
  announcer: Pick<Announcer, 'round'>;
  /** Where alerts of a service's protocols go, as far as they may be sent there. */
  destinationsOf(service: string, protocols: readonly string[]): Promise<Destination[]>;
  /** Why a service, or one of these protocols, cannot be read: a sentence without secrets, where it is known. */
  reasonOf(service: string, protocols: readonly string[]): string | undefined;
  /** Alerts of a service, or of these protocols, of items dated between two moments in epoch milliseconds. */
  countAlerts(service: string, protocols: readonly string[], from: number, to: number): Promise<CaughtUp>;
  /** What is read of a service: every track that its polls ask for. */
  tracksOf(service: string): Promise<Track[]>;
  /** Called after each look with the protocols that were not read for three intervals. */
  onUnread(service: string, protocols: readonly string[], watched: number): void;
  /** One daemon announces: another one sees a little later what was read, and would say again that it is not. */
  isOurs(service: string): boolean;
  limits: Limits;
  monotonic(): number;
  now(): number;
}

/** An announcement of one or more protocols, or of the whole. */
interface Unread extends Announced {
  reason: string | undefined;
}

/** The worst of each protocol's tracks. */
const readingsOf = (tracks: Awaited<ReturnType<ReadWatch['look']>>): Map<string, Reading> => {
  const readings = new Map<string, Reading>();
  for (const { track, wasRead, unreadMs } of tracks) {
    const known = readings.get(track.protocol);
    readings.set(track.protocol, {
      wasRead: wasRead && known?.wasRead !== false,
      unreadMs: Math.max(unreadMs, known?.unreadMs ?? 0),
    });
  }
  return readings;
};

/** `watched`: every protocol that is watched. */
const createWords = ({ reasonOf, countAlerts, now }: BlindnessCheckDependencies) => ({
  beginning: (service: string, watched: readonly string[], begun: NonNullable<Changes['begun']>): Beginning<Unread> => {
    const { protocols, unreadMs } = begun;
    const since = iso(now() - unreadMs);
    const reason = reasonOf(service, protocols);
    return {
      ...{ key: `${service} ${since}`, since, reason, members: protocols, isOneThing: true },
      words: (members) => unreadText({ service, since, reason, watched: watched.length, protocols: members }),
      said: { text: 'the service cannot be read', fields: { service, since, reason, ...fewOf(protocols) } },
    };
  },
  ending: (service: string, watched: readonly string[], over: Over): Ending => {
    const { reason } = over.announced as Unread;
    const facts = overFacts(service, over, watched, now());
    const { protocols, since, forMs } = facts;
    return {
      of: [over],
      words: async () => {
        const from = Date.parse(since);
        return readAgainText({ ...facts, reason, caughtUp: await countAlerts(service, protocols, from, now()) });
      },
      said: { text: 'the service is read again', fields: { service, since, forMs, ...fewOf(protocols) } },
    };
  },
});

export const createBlindnessCheck = (dependencies: BlindnessCheckDependencies) => {
  const { watch, announcer, destinationsOf, tracksOf, reasonOf, onUnread, isOurs, limits, monotonic } = dependencies;
  const say = createWords(dependencies);
  /** Since when a service that nothing is known of does not answer; since when one is back. By `monotonic`. */
  const silentSince = new Map<string, number>();
  const backSince = new Map<string, number>();

  const sinceFirst = (moments: Map<string, number>, service: string, holds: boolean): number => {
    if (holds) return monotonic() - getOrCreate(moments, service, monotonic);
    moments.delete(service);
    return 0;
  };

  const look = async (service: string) => {
    const readings = readingsOf(await watch.look(service, await tracksOf(service)));
    const watched = [...readings.keys()];
    const isSilent = watched.length === 0 && reasonOf(service, []) !== undefined;
    const silentMs = sinceFirst(silentSince, service, isSilent);
    if (watched.length === 0) readings.set(WHOLE, { wasRead: !isSilent, unreadMs: silentMs });
    return { readings, watched };
  };

  const check = async (service: string): Promise<void> => {
    const { readings, watched } = await look(service);
    const unread = [...readings].filter(([, { unreadMs }]) => unreadMs >= limits.unreadAfter).map(([name]) => name);
    onUnread(service, unread, watched.length);
    const backForMs = sinceFirst(backSince, service, isBack(readings, limits));
    if (!isOurs(service)) return;
    const group: Group = {
      ...{ name: GROUPS.unread(service), about: { begun: 'service.unread', over: 'service.read' } },
      people: ({ members }) => destinationsOf(service, members.length === 0 ? watched : members),
    };
    await announcer.round(group, (announced) => {
      const { begun, ended } = changesOf({ readings, announced, backForMs, limits });
      return {
        begun: begun === undefined ? [] : [say.beginning(service, watched, begun)],
        ended: ended.map((one) => say.ending(service, watched, one)),
      };
    });
  };

  return { check };
};
