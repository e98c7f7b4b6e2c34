/**
 * The order of a digest. An attacker who wants one alert to be overlooked makes hundreds besides, and writes their texts. So
 * an incident ranks by how it differs from the others of its severity, and by its text only where all else is equal. Pure.
 */
import { mapSliced, type Sliced } from '../chunks.ts';

/** What ranks an incident: what it has of each list, in no order. A text has none but protocols. */
export interface Traits {
  /** Lower is more urgent, and comes first whatever else there is. */
  urgency: number;
  protocols: readonly string[];
  /** Ids of those that fired. */
  detectors?: readonly string[];
  contracts?: readonly string[];
  methods?: readonly string[];
  origins?: readonly string[];
  isPrivileged?: boolean;
  isByAdmin?: boolean;
  isOriginNew?: boolean;
  isTriggered?: boolean;
  /** The largest that its text states, see `statedPercent`. */
  percent: number;
  /** Epoch milliseconds. */
  at?: number | undefined;
}

interface Ranked<T> {
  of: T;
  /** Why it ranks high, as readers see it, the weightiest first. */
  reasons: string[];
}

interface Fact {
  reason?: string;
  weight: number;
  holds(of: Traits): boolean;
}

const moreThan = (few: number): Fact => ({ weight: 3, holds: ({ detectors = [] }) => detectors.length > few });

/** The weightiest first. Several detectors are the dearest to make up. Their names say so themselves. */
const FACTS: readonly Fact[] = [
  { reason: 'privileged call', weight: 8, holds: ({ isPrivileged = false }) => isPrivileged },
  { reason: 'sender is an admin', weight: 4, holds: ({ isByAdmin = false }) => isByAdmin },
  ...[1, 2, 3].map(moreThan),
  { weight: 2, holds: ({ isTriggered = false }) => isTriggered },
  { reason: 'new sender', weight: 1, holds: ({ isOriginNew = false }) => isOriginNew },
];

interface Respect {
  text: string;
  valuesOf(of: Traits): readonly string[];
}

const together = (names: readonly string[]): string[] => (names.length === 0 ? [] : [JSON.stringify(names.toSorted())]);

/** In what an incident may be rare. Who varies all of one makes nothing rare in it, and the others tell the rest. */
const RESPECTS: readonly Respect[] = [
  { text: 'with these detectors', valuesOf: ({ detectors = [] }) => together(detectors) },
  { text: 'with such a detector', valuesOf: ({ detectors = [] }) => detectors },
  { text: 'on this contract', valuesOf: ({ contracts = [] }) => contracts },
  { text: 'in this protocol', valuesOf: ({ protocols }) => protocols },
  { text: 'with this method', valuesOf: ({ methods = [] }) => methods },
  { text: 'from this sender', valuesOf: ({ origins = [] }) => origins },
];

/** Less is chance. */
const RARE = 2;
/** Rarer is no worse: else one thing that nobody else has would outweigh any fact. */
const RAREST = 4;
/** So rare that readers are told. */
const NOTABLE = 3;

interface Rarity {
  /** How often its share would have to double to be usual; whole, so that a little more or less decides nothing. */
  doublings: number;
  reason: string;
}

const COMMON: Rarity = { doublings: 0, reason: '' };

/** For each, how many share with it what the fewest do; all where it has nothing of it. */
const sharersOf = (all: readonly Traits[], { valuesOf }: Respect): number[] => {
  const values = all.map((one) => {
    const own = valuesOf(one);
    return own.length > 1 ? [...new Set(own)] : own;
  });
  const counts = new Map<string, number>();
  for (const value of values.flat()) counts.set(value, (counts.get(value) ?? 0) + 1);
  return values.map((own) => own.reduce((fewest, value) => Math.min(fewest, counts.get(value) ?? 0), all.length));
};

/** Each by that in which it is rarest. What is usual is a mean over all, so that a few odd ones do not change it. */
function* raritiesOf(all: readonly Traits[]): Sliced<Rarity[]> {
  let rarities = all.map(() => COMMON);
  for (const respect of RESPECTS) {
    yield;
    const sharers = sharersOf(all, respect);
    const usual = sharers.reduce((sum, count) => sum + Math.log2(count), 0) / all.length;
    rarities = rarities.map((known, index) => {
      const count = sharers[index] ?? all.length;
      const doublings = Math.min(RAREST, Math.floor(usual - Math.log2(count)));
      return doublings >= RARE && doublings > known.doublings
        ? { doublings, reason: `only ${count} of ${all.length.toLocaleString('en')} ${respect.text}` }
        : known;
    });
  }
  return rarities;
}

interface Scored<T> extends Ranked<T> {
  traits: Traits;
  score: number;
  kind: string;
}

/** A fact counts by how few have it: what all of a flood have tells nothing. */
function* scoresOf<T extends { traits: Traits }>(all: readonly T[]): Sliced<Scored<T>[]> {
  const traits = all.map((one) => one.traits);
  const rarities = yield* raritiesOf(traits);
  yield;
  const worths = FACTS.map(({ weight, holds }) => weight * (1 - traits.filter(holds).length / all.length));
  return yield* mapSliced(all, (of, index) => {
    const { traits: one } = of;
    const { doublings, reason } = rarities[index] ?? COMMON;
    const rare: Fact = { reason, weight: doublings, holds: () => true };
    const facts = doublings < NOTABLE ? FACTS : [...FACTS, rare].toSorted((a, b) => b.weight - a.weight);
    return {
      ...{ of, traits: one },
      reasons: facts.flatMap((fact) => (fact.holds(one) ? (fact.reason ?? []) : [])),
      score: FACTS.reduce((sum, { holds }, fact) => sum + (holds(one) ? (worths[fact] ?? 0) : 0), doublings),
      kind: JSON.stringify([together(one.detectors ?? []), one.isPrivileged]),
    };
  });
}

const byScore = (a: Scored<unknown>, b: Scored<unknown>): number =>
  b.score - a.score || b.traits.percent - a.traits.percent || (a.traits.at ?? 0) - (b.traits.at ?? 0);

/** The first of each kind, then the second of each. A kind: the same detectors, and a privileged call or not. */
const inTurns = <T>(sorted: readonly Scored<T>[]): Scored<T>[] => {
  const turns = new Map<string, number>();
  const placed = sorted.map((one) => {
    const turn = turns.get(one.kind) ?? 0;
    turns.set(one.kind, turn + 1);
    return { one, turn };
  });
  return placed.toSorted((a, b) => a.turn - b.turn).map(({ one }) => one);
};

/** The worst first: by severity; then one of each kind before a second of any, by what they are and how rare that is. */
export function* ranked<T extends { traits: Traits }>(all: readonly T[]): Sliced<Ranked<T>[]> {
  const severities = [...Map.groupBy(all, ({ traits: { urgency } }) => urgency)].toSorted(([a], [b]) => a - b);
  const order: Ranked<T>[] = [];
  for (const [, alike] of severities) {
    const scored = yield* scoresOf(alike);
    yield;
    scored.sort(byScore);
    order.push(...inTurns(scored));
  }
  return order;
}
