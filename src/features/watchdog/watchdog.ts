/** Tells the operators of what has lasted: which conditions are news, and which of the announced ones are over. */
import { type Condition, conditionKey, conditionText, rowOf } from '../../condition.ts';
import { iso } from '../../time.ts';
import type { Announcer, Beginning, Ending, Group, News } from '../conditions/announcer.ts';
import { type Announced, GROUPS, overAmong } from '../conditions/store.ts';
import { begunText, overText } from './message.ts';

/** What was announced together, until all of it is over. */
interface AnnouncedTroubles extends Announced {
  conditions: Condition[];
}

/** While Redis is frozen, a look hangs. Two looks around such a gap do not show that a condition lasted, so three have to find it. */
const LEAST_LOOKS = 3;

/** For how long this daemon has seen each of these without a break, in milliseconds. */
const createSightings = (monotonic: () => number) => {
  let seen: ReadonlyMap<string, { since: number; looks: number }> = new Map();
  return {
    look: (keys: readonly string[]): void => {
      const again = (key: string) => {
        const { since = monotonic(), looks = 0 } = seen.get(key) ?? {};
        return { since, looks: looks + 1 };
      };
      seen = new Map(keys.map((key) => [key, again(key)]));
    },
    forMs: (key: string): number => {
      const { since = monotonic(), looks = 0 } = seen.get(key) ?? {};
      return looks < LEAST_LOOKS ? 0 : monotonic() - since;
    },
  };
};

/** Others announce it where they find it, or nobody is to hear of it. */
const isForOthers = ({ name, announcedTo }: Condition): boolean => {
  const { hears, announcedWhen } = rowOf(name);
  return announcedTo !== undefined || hears === 'nobody' || announcedWhen === 'found';
};

interface ChangesInput {
  current: readonly Condition[];
  /** Keys of those that were announced. */
  announced: readonly string[];
  /** For how long a condition was seen at every look, and an announced one at none; in milliseconds. */
  seenForMs(key: string): number;
  goneForMs(key: string): number;
  /** What lasts for so long is news. */
  afterMs: number;
}

/** Beside one that is due, others need to last only half as long: what happens together is announced together. */
const TOGETHER = 0.5;

/** Which conditions are to be announced now, and which of the announced ones are over. */
export const changesOf = ({ current, announced, seenForMs, goneForMs, afterMs }: ChangesInput) => {
  const here = new Set(current.map(conditionKey));
  const fresh = current.filter((one) => !isForOthers(one) && !announced.includes(conditionKey(one)));
  const gone = announced.filter((key) => !here.has(key));
  const lasting = <T>(all: readonly T[], forMs: (one: T) => number): T[] =>
    all.some((one) => forMs(one) >= afterMs) ? all.filter((one) => forMs(one) >= afterMs * TOGETHER) : [];
  return { begun: lasting(fresh, (one) => seenForMs(conditionKey(one))), ended: lasting(gone, goneForMs) };
};

interface WatchdogDependencies {
  /** What all know now; `hosts`: of the daemons that run. */
  list(): Promise<{ conditions: readonly Condition[]; hosts: ReadonlySet<string> }>;
  announcer: Pick<Announcer, 'round'>;
  /** How long a condition has to last, and how long its end. */
  afterMs: number;
  monotonic(): number;
  now(): number;
}

const beginningOf = (
  begun: readonly Condition[],
  at: number,
  seenForMs: (key: string) => number,
): Beginning<AnnouncedTroubles> => {
  const conditions = begun.map((one) => ({ ...one, since: one.since ?? iso(at - seenForMs(conditionKey(one))) }));
  const of = (members: readonly string[]) => conditions.filter((one) => members.includes(conditionKey(one)));
  const members = conditions.map(conditionKey);
  return {
    ...{ key: iso(at), since: iso(at), conditions, members },
    words: (loud) => begunText(of(loud)),
    said: { text: 'trouble in Tocsin itself', fields: { troubles: conditions.map(conditionText) } },
  };
};

const endingOf = (
  announced: readonly AnnouncedTroubles[],
  ended: readonly string[],
  { left, hosts, now }: { left: number; hosts: ReadonlySet<string>; now: number },
): Ending => {
  const of = overAmong(announced, (key) => ended.includes(key));
  const conditionsOf = (some: typeof of): Condition[] =>
    some.flatMap(({ announced: { conditions }, members }) =>
      conditions.filter((one) => members.includes(conditionKey(one))),
    );
  const asEnded = (one: Condition) => ({
    ...one,
    isUnknown: rowOf(one.name).isOfOneDaemon && !hosts.has(one.at ?? ''),
  });
  const heard = conditionsOf(of.filter((one) => one.announced.announcedTo.length > 0)).map(asEnded);
  return {
    of,
    words: () => overText(heard, { left, now }),
    said: { text: 'trouble in Tocsin itself is over', fields: { troubles: conditionsOf(of).map(conditionText) } },
  };
};

export const createWatchdogRound = ({ list, announcer, afterMs, monotonic, now }: WatchdogDependencies) => {
  const seen = createSightings(monotonic);
  const gone = createSightings(monotonic);

  return async (): Promise<void> => {
    const { conditions, hosts } = await list();
    const failing = new Set(conditions.flatMap(({ name, of }) => (name === 'channel' ? [of] : [])));
    // Never over a channel that is itself broken.
    const group: Group = {
      ...{ name: GROUPS.watchdog, about: { begun: 'trouble.begun', over: 'trouble.over' } },
      isPartOf: (one) => failing.has(one.kind),
    };

    const find = (records: readonly Announced[]): News => {
      const all = records as readonly AnnouncedTroubles[];
      const announced = all.flatMap(({ members }) => members);
      const here = conditions.map(conditionKey);
      seen.look(here);
      gone.look(announced.filter((key) => !here.includes(key)));
      const [seenForMs, goneForMs] = [seen.forMs, gone.forMs];
      const changes = changesOf({ current: conditions, announced, seenForMs, goneForMs, afterMs });
      const left = announced.length - changes.ended.length;
      return {
        begun: changes.begun.length === 0 ? [] : [beginningOf(changes.begun, now(), seen.forMs)],
        ended: changes.ended.length === 0 ? [] : [endingOf(all, changes.ended, { left, hosts, now: now() })],
      };
    };
    await announcer.round(group, find);
  };
};
