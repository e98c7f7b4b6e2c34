/** The outages that were announced, over all daemons: each once, until it is over. Subjects: see `ledger/record.ts`. */
import type { Cluster, Redis } from 'ioredis';
import { CHANNEL_KINDS } from '../../alert.ts';
import { kindFacts } from '../../channels/registry.ts';
import type { Condition } from '../../condition.ts';
import type { DeliveryReason, Explanation } from '../../errors.ts';
import { senderId } from '../../item.ts';
import type { DestinationStatistics } from '../../ledger/destination-stats.ts';
import { nameOf } from '../../ledger/record.ts';
import { type Announced, createAnnouncedStore, GROUPS, labelsOf } from './store.ts';

export interface Outage extends Announced {
  reason: DeliveryReason;
  /** The error that it gave, in a sentence without secrets. */
  message: string;
  /** The same for people; absent where nobody has words for it. */
  explanation?: Explanation | undefined;
}

type Noted = Omit<Outage, 'id' | 'key' | 'about' | 'members'>;

export const createOutageStore = (redis: Redis | Cluster, prefix: string, now?: () => number) => {
  const store = createAnnouncedStore(redis, prefix, now);
  const find = async (id: string): Promise<Outage | undefined> =>
    (await store.get<Outage>(GROUPS.broken, [id])).get(id);
  const change = <T extends Outage | undefined>(id: string, next: (kept: Outage | undefined) => T): Promise<T> =>
    store.change(GROUPS.broken, id, next);
  return {
    ...{ find, count: store.count },
    /** Gives the outage that is kept: this one, or one that was noted before and is in force. */
    note: (id: string, noted: Noted): Promise<Outage> =>
      change(id, (kept) => {
        if (kept !== undefined && store.isInForce(kept)) return kept;
        return { ...noted, id, key: `${id} ${noted.since}`, about: 'destination.broken', members: [id] };
      }),
    /** Of those of `subjects` that are broken. */
    get: (subjects: readonly string[]): Promise<Map<string, Outage>> => store.inForce(GROUPS.broken, subjects),
    /** `at`: ISO 8601. Its end is not announced yet. */
    enabled: (id: string, at: string) => change(id, (kept) => kept && { ...kept, enabledAt: at }),
    /** It is gone, and nobody asks any more whether it works. */
    forget: (id: string) => change(id, () => undefined),
  };
};

export type OutageStore = ReturnType<typeof createOutageStore>;

/** What is broken now of these and their senders, and what is said of it. */
export const currentOutages = async (
  outages: Pick<OutageStore, 'get'>,
  destinations: readonly (Pick<DestinationStatistics, 'id' | 'kind' | 'label'> & { name?: string })[],
) => {
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
    return [{ id, kind, outage, condition }];
  });
};

export type CurrentOutage = Awaited<ReturnType<typeof currentOutages>>[number];
