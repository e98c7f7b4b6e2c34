/** The outages that were announced, over all daemons: each once, until it is over. Subjects: see `ledger/record.ts`. */
import type { Cluster, Redis } from 'ioredis';
import { CHANNEL_KINDS, type ChannelKind } from '../../alert.ts';
import { kindFacts } from '../../channels/registry.ts';
import type { Condition } from '../../condition.ts';
import type { DeliveryReason, Explanation } from '../../errors.ts';
import { senderId } from '../../item.ts';
import type { DestinationStatistics } from '../../ledger/destination-stats.ts';
import { nameOf } from '../../ledger/record.ts';
import { type Announced, createAnnouncedStore, GROUPS, labelsOf } from './store.ts';

interface Facts {
  reason: DeliveryReason;
  /** The error that it gave, in a sentence without secrets. */
  message: string;
  /** The same for people; absent where nobody has words for it. */
  explanation?: Explanation | undefined;
}

export interface Outage extends Announced, Facts {}

/** What is known of an outage. What is left out of its announcement: none is to come. */
type Noted = Facts & Pick<Announced, 'since' | 'announcedTo'> & Partial<Announced>;

const outageOf = (id: string, noted: Noted): Outage => ({
  ...{ id, key: `${id} ${noted.since}`, about: 'destination.broken', members: [id] },
  ...{ text: '', said: { text: 'a destination is broken', fields: {} }, isAnnounced: true },
  ...noted,
});

export const createOutageStore = (redis: Redis | Cluster, prefix: string, now?: () => number) => {
  const store = createAnnouncedStore(redis, prefix, now);
  const { replace, isKept } = store;
  const find = async (id: string): Promise<Outage | undefined> =>
    (await store.get<Outage>(GROUPS.broken, [id])).get(id);
  const isInForce = (outage: Outage): boolean => outage.enabledAt === undefined && isKept(outage);
  /** Gives the outage that is kept: this one, or one that was noted before and is in force. */
  const note = async (id: string, noted: Noted): Promise<Outage> => {
    const before = await find(id);
    if (before !== undefined && isInForce(before)) return before;
    const outage = outageOf(id, noted);
    // Another daemon may have noted it meanwhile: then its note holds.
    return (await replace(GROUPS.broken, before, outage)) ? outage : note(id, noted);
  };
  /** Only this one: another that was noted meanwhile stays. */
  const remove = async (id: string, outage: Outage): Promise<void> => {
    const kept = await find(id);
    if (kept?.key !== outage.key) return;
    if (!(await replace(GROUPS.broken, kept, undefined))) await remove(id, outage);
  };
  return {
    ...{ note, find, count: store.count },
    /** Of those of `subjects` that are broken. */
    get: (subjects: readonly string[]): Promise<Map<string, Outage>> => store.inForce(GROUPS.broken, subjects),
    /** Those that somebody still has to hear of. */
    unannounced: async (): Promise<Outage[]> => (await store.unannounced<Outage>(GROUPS.broken)).filter(isInForce),
    /** `at`: ISO 8601. Its end is not announced yet. */
    enabled: async (id: string, at: string): Promise<void> => {
      const before = await find(id);
      if (before !== undefined) await replace(GROUPS.broken, before, { ...before, enabledAt: at });
    },
    remove,
    /** It is gone, and nobody asks any more whether it works. */
    forget: async (id: string): Promise<void> => {
      const before = await find(id);
      if (before !== undefined) await replace(GROUPS.broken, before, undefined);
    },
  };
};

export type OutageStore = ReturnType<typeof createOutageStore>;

/** A destination or a sender that is broken now, by its id, and what is said of it. */
export interface CurrentOutage {
  id: string;
  kind: ChannelKind;
  condition: Condition;
}

export const currentOutages = async (
  outages: Pick<OutageStore, 'get'>,
  destinations: readonly (Pick<DestinationStatistics, 'id' | 'kind' | 'label'> & { name?: string })[],
): Promise<CurrentOutage[]> => {
  const senders = CHANNEL_KINDS.map((kind) => ({ id: senderId(kind), kind, what: kindFacts(kind).words.none }));
  const subjects = [...senders, ...destinations.map((one) => ({ ...one, what: `${nameOf(one)} takes no alerts` }))];
  const found = await outages.get(subjects.map(({ id }) => id));
  return subjects.flatMap(({ id, kind, what }) => {
    const outage = found.get(id);
    if (outage === undefined) return [];
    const { since, message: why, explanation } = outage;
    const condition: Condition = {
      ...(id === senderId(kind) ? { name: 'channel', of: kind } : { name: 'destination', of: id, under: kind }),
      ...{ what, why, since, announcedTo: labelsOf(outage.announcedTo) },
      todo: explanation?.todo,
    };
    return [{ id, kind, condition }];
  });
};
