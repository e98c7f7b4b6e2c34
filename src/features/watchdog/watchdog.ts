/** Tells the operators of what has lasted: which conditions are news, and which of the announced ones are over. */
import { type Condition, conditionKey, conditionText, rowOf } from '../../condition.ts';
import { iso } from '../../time.ts';
import type { Announcer, Beginning, Ending, Group } from '../conditions/announcer.ts';
import { type Announced, GROUPS, type Over, overAmong } from '../conditions/store.ts';
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
  const of = (key: string) => seen.get(key) ?? { since: monotonic(), looks: 0 };
  return {
    look: (keys: readonly string[]): void => {
      seen = new Map(keys.map((key) => [key, { since: of(key).since, looks: of(key).looks + 1 }]));
    },
    forMs: (key: string): number => (of(key).looks < LEAST_LOOKS ? 0 : monotonic() - of(key).since),
  };
};

/** Others announce it where they find it, or nobody is to hear of it. */
const isForOthers = ({ name, announcedTo }: Condition): boolean =>
  announcedTo !== undefined || rowOf(name).announced !== 'lasting';

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
  announcer: Pick<Announcer, 'round'>;
  /** How long a condition has to last, and how long its end. */
  afterMs: number;
  monotonic(): number;
  now(): number;
}

/** Each with when it began. */
const beginningOf = (conditions: Condition[], at: string): Beginning<AnnouncedTroubles> => ({
  ...{ key: at, since: at, conditions, members: conditions.map(conditionKey) },
  words: (loud) => begunText(conditions.filter((one) => loud.includes(conditionKey(one)))),
  said: { text: 'trouble in Tocsin itself', fields: { troubles: conditions.map(conditionText) } },
});

const endingOf = (of: readonly Over<AnnouncedTroubles>[], facts: Parameters<typeof overText>[1]): Ending => {
  const over = of.flatMap(({ announced: { conditions }, members }) =>
    conditions.filter((one) => members.includes(conditionKey(one))),
  );
  return {
    of,
    words: () => overText(over, facts),
    said: { text: 'trouble in Tocsin itself is over', fields: { troubles: over.map(conditionText) } },
  };
};

export const createWatchdogRound = ({ announcer, afterMs, monotonic, now }: WatchdogDependencies) => {
  const seen = createSightings(monotonic);
  const gone = createSightings(monotonic);

  /** To be called with what all know now; `hosts`: of the daemons that run. */
  return async (conditions: readonly Condition[], hosts: ReadonlySet<string>): Promise<void> => {
    const failing = new Set(conditions.flatMap(({ name, of }) => (name === 'channel' ? [of] : [])));
    // Never over a channel that is itself broken.
    const group: Group = {
      ...{ name: GROUPS.watchdog, about: { begun: 'trouble.begun', over: 'trouble.over' } },
      isPartOf: (one) => failing.has(one.kind),
    };
    const here = conditions.map(conditionKey);
    const dated = (one: Condition): Condition => ({ since: iso(now() - seen.forMs(conditionKey(one))), ...one });
    seen.look(here);
    await announcer.round(group, (records) => {
      const announced = records.flatMap(({ members }) => members);
      gone.look(announced.filter((key) => !here.includes(key)));
      const [seenForMs, goneForMs] = [seen.forMs, gone.forMs];
      const { begun, ended } = changesOf({ current: conditions, announced, seenForMs, goneForMs, afterMs });
      const of = overAmong(records as readonly AnnouncedTroubles[], (key) => ended.includes(key));
      const left = announced.length - ended.length;
      return {
        begun: begun.length === 0 ? [] : [beginningOf(begun.map(dated), iso(now()))],
        ended: of.length === 0 ? [] : [endingOf(of, { left, hosts, now: now() })],
      };
    });
  };
};
