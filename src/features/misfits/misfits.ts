/**
 * Inspections that do not fit where the service lists them: what is listed for one protocol and names another one reaches the people
 * of the first, unless the other one's list has it; and of what cannot be understood the operators hear.
 */
import type { Logger } from 'pino';
import type { Destination } from '../../alert.ts';
import { createBoundedMap, getOrCreate } from '../../bounded-map.ts';
import { rowOf } from '../../condition.ts';
import type { Item, ItemPage } from '../../item.ts';
import type { Stream } from '../../poll/stream.ts';
import { capital, firstFew, listText, namesText, nameText, serviceText, shorten } from '../../text.ts';
import { iso } from '../../time.ts';
import { TO_DO } from '../announcements/announce.ts';
import type { Announcer, Beginning, Ending, Group } from '../conditions/announcer.ts';
import { fewOf, GROUPS, type Over, overAmong } from '../conditions/store.ts';

interface MisfitsDependencies {
  /** By its assessment it is forwarded. */
  isWanted(item: Item): boolean;
  /** Whether the list of the protocol that it names has it, also where the config excludes that. Undefined: ask again later. */
  isListedThere(service: string, item: Item): Promise<boolean | undefined>;
  /** Forwards it for this protocol; `busy`: try again. */
  forward(service: string, protocol: string, item: Item): Promise<'forwarded' | 'known' | 'busy'>;
  announcer: Pick<Announcer, 'round'>;
  destinationsOf(service: string, protocols: readonly string[]): Promise<Destination[]>;
  protocolsOf(service: string): Promise<readonly string[]>;
  /** Whether this daemon is the one that reads a protocol. */
  isOwn(service: string): (protocol: string) => boolean;
  /** So long the protocol that it names has to read it, in milliseconds. */
  waitMs: number;
  /** It is over when nothing was seen for so long, in milliseconds. */
  lastsMs: number;
  log: Pick<Logger, 'error'>;
  monotonic(): number;
  now(): number;
}

/** Of one protocol, so that none takes the room of another one; and of all. What has no room is announced, and not forwarded. */
const MOST_WAITING = 20;
const MOST_WAITING_OF_ALL = 2000;
/** In one round: each may cost a request. Protocols take turns. */
const MOST_A_ROUND = 100;
/** A service that ignores which protocol it is asked for lists each for all: this many forward one that its own does not read. */
const MOST_FORWARDED = 3;
const MOST_KNOWN = 10_000;
/** A message has so many protocols with what is odd of each, and so many oddities of each. */
const NAMED = 10;
const ODDITIES = 3;
const LONGEST_ODDITY = 150;

interface Misfit {
  oddities: Set<string>;
  seenAt: number;
}

interface Waiting {
  protocol: string;
  item: Item;
  since: number;
}

const keyOf = ({ itemId, txHash = '' }: Item): string => JSON.stringify([itemId, txHash]);

const begunText = (service: string, found: ReadonlyMap<string, Misfit>, names: readonly string[]): string => {
  const lineOf = (name: string): string =>
    `${nameText(name)}: ${listText([...(found.get(name)?.oddities ?? [])], ODDITIES)}`;
  return [
    `${capital(serviceText(service))} lists strange inspections for ${namesText(names)}.`,
    ...firstFew(names.map(lineOf), NAMED).map((line) => `- ${line}`),
    `${rowOf('misfits').effect}.`,
    `${TO_DO}${rowOf('misfits').todo}.`,
  ].join('\n');
};

const beginningOf = (service: string, found: ReadonlyMap<string, Misfit>, at: number): Beginning => {
  const members = [...found.keys()];
  const oddities = new Set([...found.values()].flatMap((one) => [...one.oddities]));
  return {
    ...{ key: `misfits ${service} ${iso(at)}`, since: iso(at), members },
    why: listText([...oddities], ODDITIES),
    words: (names) => begunText(service, found, names),
    said: {
      text: 'the service lists strange inspections',
      fields: { service, ...fewOf(members) },
    },
  };
};

const endingOf = (service: string, over: Over): Ending => ({
  of: [over],
  words: () =>
    `${capital(serviceText(service))} has listed no strange inspections for an hour, for ${namesText(over.members)}.`,
  said: { text: 'the service lists no strange inspections any more', fields: { service, ...fewOf(over.members) } },
});

/** What waits until the protocol that it names has had its time. */
const createWaiting = () => {
  const waiting = new Map<string, Map<string, Waiting>>();
  let total = 0;
  return {
    /** False where there is no room. */
    add: (protocol: string, one: Waiting): boolean => {
      const own = getOrCreate(waiting, protocol, () => new Map<string, Waiting>());
      const key = keyOf(one.item);
      if (own.has(key)) return true;
      if (own.size >= MOST_WAITING || total >= MOST_WAITING_OF_ALL) return false;
      own.set(key, one);
      total += 1;
      return true;
    },
    over: ({ protocol, item }: Waiting): void => {
      if (waiting.get(protocol)?.delete(keyOf(item))) total -= 1;
    },
    /** The first of each protocol, then the second of each. */
    all: (): Waiting[] => {
      const turns = [...waiting.values()].flatMap((own) => [...own.values()].map((one, turn) => ({ one, turn })));
      return turns.toSorted((a, b) => a.turn - b.turn).map(({ one }) => one);
    },
  };
};

const createOfService = (service: string, { isWanted, monotonic }: MisfitsDependencies) => {
  const found = new Map<string, Misfit>();
  const waiting = createWaiting();
  /** By protocol and item: those that the protocol which they name has read, or that were forwarded. */
  const settled = createBoundedMap<string, 'fits' | 'odd'>(MOST_KNOWN);
  const forwarded = createBoundedMap<string, number>(MOST_KNOWN);
  const settledKey = (protocol: string, item: Item): string => `${keyOf(item)} ${protocol}`;

  const isOdd = (protocol: string, oddity: string): void => {
    const { oddities } = getOrCreate(found, protocol, () => ({ oddities: new Set<string>(), seenAt: 0 }));
    if (oddities.size < MOST_WAITING) oddities.add(shorten(oddity, LONGEST_ODDITY));
    found.set(protocol, { oddities, seenAt: monotonic() });
  };
  const names = ({ protocol }: Item): string => `an inspection that names ${nameText(protocol)}`;

  return {
    ...{ service, found, waiting, forwarded, isOdd, names },
    settle: (one: Waiting, how: 'fits' | 'odd'): void => {
      settled.set(settledKey(one.protocol, one.item), how);
      waiting.over(one);
    },
    note: (protocol: string, { malformed, foreign = [] }: ItemPage): void => {
      for (const { problem } of malformed) isOdd(protocol, problem);
      for (const item of foreign.filter(isWanted)) {
        const how = settled.get(settledKey(protocol, item));
        const hasRoom = how !== undefined || waiting.add(protocol, { protocol, item, since: monotonic() });
        if (how === 'odd' || !hasRoom) isOdd(protocol, names(item));
      }
    },
  };
};

type OfService = ReturnType<typeof createOfService>;

const createForwarding = ({ isListedThere, forward, waitMs, monotonic }: MisfitsDependencies) => {
  const decide = async (of: OfService, one: Waiting): Promise<void> => {
    const { protocol, item } = one;
    const isThere = await isListedThere(of.service, item);
    if (isThere) return of.settle(one, 'fits');
    // It must not hold up the others.
    if (isThere === undefined) {
      one.since = monotonic();
      return;
    }
    const times = of.forwarded.get(keyOf(item)) ?? 0;
    if (times < MOST_FORWARDED && (await forward(of.service, protocol, item)) === 'busy') return;
    of.forwarded.set(keyOf(item), times + 1);
    of.isOdd(protocol, of.names(item));
    of.settle(one, 'odd');
  };
  return async (of: OfService): Promise<void> => {
    const due = of.waiting.all().filter(({ since }) => monotonic() - since >= waitMs);
    for (const one of due.slice(0, MOST_A_ROUND)) await decide(of, one);
  };
};

export const createMisfits = (dependencies: MisfitsDependencies) => {
  const { announcer, destinationsOf, protocolsOf, isOwn, lastsMs, log, monotonic, now } = dependencies;
  const services = new Map<string, OfService>();
  const of = (service: string): OfService =>
    getOrCreate(services, service, () => createOfService(service, dependencies));
  const forwardDue = createForwarding(dependencies);
  const openedAt = monotonic();

  const tell = async (service: string): Promise<void> => {
    const { found } = of(service);
    for (const [name, { seenAt }] of found) if (monotonic() - seenAt >= lastsMs) found.delete(name);
    const watched = new Set(await protocolsOf(service));
    const isMine = isOwn(service);
    // What another daemon has found before, this one may still have to see.
    const isOver = (name: string): boolean =>
      !watched.has(name) || (isMine(name) && !found.has(name) && monotonic() - openedAt >= lastsMs);
    const group: Group = {
      ...{ name: GROUPS.misfits(service), about: { begun: 'trouble.begun', over: 'trouble.over' } },
      people: ({ members }) => destinationsOf(service, members),
    };
    await announcer.round(group, (announced) => {
      const known = new Set(announced.flatMap(({ members }) => members));
      const news = new Map([...found].filter(([name]) => !known.has(name) && watched.has(name)));
      return {
        begun: news.size === 0 ? [] : [beginningOf(service, news, now())],
        ended: overAmong(announced, isOver).map((one) => endingOf(service, one)),
      };
    });
  };

  return {
    /** Every page of a poll. */
    note: ({ service, source, protocols: [protocol = ''] }: Stream, page: ItemPage): void => {
      if (source === 'inspections') of(service).note(protocol, page);
    },
    round: async (service: string): Promise<void> => {
      // What is announced does not wait for what Redis refuses to take.
      await forwardDue(of(service)).catch((err: unknown) =>
        log.error({ service, err }, 'inspections that name another protocol wait, as Redis does not take them'),
      );
      await tell(service);
    },
  };
};
