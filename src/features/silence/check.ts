/** Asks in turn when each protocol was last inspected, and has those announced of which nothing is for far too long. */
import type { Logger } from 'pino';
import type { Destination } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import { mapInChunks } from '../../chunks.ts';
import { ServiceError } from '../../errors.ts';
import { contentId } from '../../item.ts';
import { iso } from '../../time.ts';
import type { Announcer, Beginning, Ending, Group } from '../conditions/announcer.ts';
import { type Announced, type AnnouncedStore, fewOf, GROUPS, type Over, overAmong } from '../conditions/store.ts';
import { heardText, type SilentProtocol, silentText } from './message.ts';
import { type Habit, type HabitStore, type Probe, type Probed, type Silence, silenceOf } from './probe.ts';

interface ProbeTimesDependencies {
  /** Requests a second to one service, of all daemons together. */
  requestsPerSecond: number;
  /** Those that share a service. */
  daemonsOf(service: string): number;
  /** What the operator expects of a protocol, in milliseconds. */
  expectEvery(protocol: string): number | undefined;
  /** How often each is asked for, where there are few. Default `USUAL_MS`. */
  leastMs?: number;
  monotonic(): number;
}

export const USUAL_MS = 600_000;
/** Of the budget. */
const SHARE = 0.05;
/** What the operator expects is looked at so often within its time. */
const LOOKS = 4;
const HOUSEKEEPING_MS = 3_600_000;

/** Between 0 and 1, the same for the same name. */
const placeOf = (service: string, protocol: string): number =>
  Number.parseInt(contentId(service, protocol).slice(0, 8), 16) / 2 ** 32;

/** When each protocol is asked for: seldom, spread, and within a small share of the service's budget of requests. */
export const createProbeTimes = (dependencies: ProbeTimesDependencies) => {
  const { requestsPerSecond, daemonsOf, expectEvery, leastMs = USUAL_MS, monotonic } = dependencies;
  const next = new Map<string, Map<string, number>>();
  /** Until then the requests that were sent use up the share of the budget. */
  const paidUntil = new Map<string, number>();
  const housekeptAt = new Map<string, number>();
  let usualMs = leastMs;

  const timesOf = (service: string): Map<string, number> => getOrCreate(next, service, () => new Map());
  const everyMs = (protocol: string): number => Math.min(usualMs, (expectEvery(protocol) ?? Infinity) / LOOKS);

  return {
    /** Those that it is time for, the latest first. */
    due: (service: string, protocols: readonly string[]): string[] => {
      usualMs = Math.max(leastMs, (1000 * protocols.length) / (SHARE * requestsPerSecond));
      const times = timesOf(service);
      const names = new Set(protocols);
      for (const name of times.keys()) if (!names.has(name)) times.delete(name);
      const now = monotonic();
      for (const name of protocols) {
        if (!times.has(name)) times.set(name, now + placeOf(service, name) * everyMs(name));
      }
      const isPaid = (paidUntil.get(service) ?? now) <= now;
      // What the operator expects does not wait for what others learn.
      const isDue = (name: string): boolean =>
        (times.get(name) ?? now) <= now && (isPaid || expectEvery(name) !== undefined);
      return protocols.filter(isDue).toSorted((a, b) => (times.get(a) ?? now) - (times.get(b) ?? now));
    },
    /** With so many requests. `isBehind`: there is more to read, so it comes again as soon as the budget allows. */
    asked: (service: string, protocol: string, { isBehind = false, requests = 0 } = {}): void => {
      const now = monotonic();
      timesOf(service).set(protocol, now + (isBehind ? 0 : everyMs(protocol)));
      const costMs = (1000 * requests * Math.max(1, daemonsOf(service))) / (SHARE * requestsPerSecond);
      paidUntil.set(service, Math.max(now, paidUntil.get(service) ?? now) + costMs);
    },
    /** What was found could not be announced: they are asked for again in the next round. */
    again: (service: string, found: readonly { protocol: string }[]): void => {
      for (const { protocol } of found) timesOf(service).set(protocol, monotonic());
    },
    isHousekeepingDue: (service: string): boolean => {
      const isDue = monotonic() - (housekeptAt.get(service) ?? Number.NEGATIVE_INFINITY) >= HOUSEKEEPING_MS;
      if (isDue) housekeptAt.set(service, monotonic());
      return isDue;
    },
  };
};

type ProbeTimes = ReturnType<typeof createProbeTimes>;

interface SilenceCheckDependencies {
  probe: Probe;
  habits: HabitStore;
  /** What is announced as silent, and what cannot be read: of that, nobody knows whether it is silent. */
  store: Pick<AnnouncedStore, 'list'>;
  announcer: Pick<Announcer, 'round'>;
  /** Where alerts of a service's protocols go, as far as they may be sent there. */
  destinationsOf(service: string, protocols: readonly string[]): Promise<Destination[]>;
  times: ProbeTimes;
  /** Protocols of a service whose inspections are asked for. */
  protocolsOf(service: string): Promise<readonly string[]>;
  /** Whether this daemon is the one that asks. */
  isOwn(service: string): (protocol: string) => boolean;
  /** What the operator says, in milliseconds. */
  expectEvery(protocol: string): number | undefined;
  clock(service: string): number;
  log: Pick<Logger, 'debug'>;
  now(): number;
}

/** Protocols of a service that one round asks for, and so many at the same time. */
const MOST_A_ROUND = 10;
const AT_ONCE = 4;

/** It is about this protocol, and others may be asked for. */
const isOfOne = (error: unknown): boolean =>
  error instanceof ServiceError && ['missing', 'rejected', 'unreadable'].includes(error.reason);

interface Finding extends Probed {
  protocol: string;
  silence: Silence | undefined;
}

const beginningOf = (service: string, found: readonly SilentProtocol[], at: number): Beginning => {
  const members = found.map(({ protocol }) => protocol);
  const since = iso(at - Math.min(...found.map(({ forMs }) => forMs)));
  const named = (names: readonly string[]) => found.filter(({ protocol }) => names.includes(protocol));
  return {
    ...{ key: `${service} ${iso(at)}`, since, members, isLater: true },
    words: (loud) => silentText(service, named(loud)),
    said: { text: 'nothing is inspected', fields: { service, since, ...fewOf(members) } },
  };
};

const endingOf = (service: string, over: Over, watched: ReadonlySet<string>, now: number): Ending => {
  const { since } = over.announced;
  const { members: protocols } = over;
  const gone = protocols.filter((name) => !watched.has(name)).length;
  return {
    of: [over],
    words: () => heardText(service, { protocols, gone, since, forMs: now - Date.parse(since) }),
    said: { text: 'inspected again', fields: { service, since, ...fewOf(protocols) } },
  };
};

/** Which protocols are newly silent, and which of the announced ones are heard again or gone. */
const changesOf = (findings: readonly Finding[], announced: readonly Announced[], watched: ReadonlySet<string>) => {
  const known = new Set(announced.flatMap(({ members }) => members));
  const newest = new Map(findings.map(({ protocol, habit }) => [protocol, habit.newest ?? 0]));
  const begun = findings.flatMap(({ protocol, silence, isSure }): SilentProtocol[] =>
    silence === undefined || !isSure || known.has(protocol) ? [] : [{ protocol, ...silence }],
  );
  // What is dated later than the newest of them is no silence any more.
  const isHeard = (name: string, { since }: Announced): boolean => (newest.get(name) ?? 0) > Date.parse(since);
  return { begun, ended: overAmong(announced, (name, of) => isHeard(name, of) || !watched.has(name)) };
};

export const createSilenceCheck = (dependencies: SilenceCheckDependencies) => {
  const { probe, habits, store, announcer, destinationsOf, times, protocolsOf, isOwn, clock, log, now } = dependencies;

  const ask = async (service: string, due: readonly string[], before: ReadonlySet<string>, signal: AbortSignal) => {
    const known = await habits.read(service, due);
    let isDown = false;
    const asked = await mapInChunks([...due.entries()], AT_ONCE, async ([index, protocol]): Promise<Finding[]> => {
      // What one request has shown, the others need not.
      if (isDown || signal.aborted) return [];
      try {
        const expected = dependencies.expectEvery(protocol);
        const silenceIn = (habit: Habit): Silence | undefined => silenceOf(habit, clock(service), expected);
        const isSilent = (habit: Habit): boolean => silenceIn(habit) !== undefined;
        const wasAnnounced = before.has(protocol);
        const probed = await probe(service, protocol, known[index], { wasAnnounced, isSilent, signal });
        times.asked(service, protocol, { isBehind: probed.behind > 0, requests: probed.requests });
        return [{ protocol, silence: silenceIn(probed.habit), ...probed }];
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        times.asked(service, protocol, { requests: 1 });
        isDown ||= !isOfOne(error);
        log.debug({ service, protocol, err: error }, 'nobody knows when it was last inspected; asking again later');
        return [];
      }
    });
    const findings = asked.flat();
    await habits.write(service, new Map(findings.map(({ protocol, habit, behind }) => [protocol, { habit, behind }])));
    return findings;
  };

  const tell = async (service: string, findings: readonly Finding[], watched: ReadonlySet<string>): Promise<void> => {
    const group: Group = {
      ...{ name: GROUPS.silent(service), about: { begun: 'protocol.silent', over: 'protocol.heard' } },
      people: ({ members }) => destinationsOf(service, members),
    };
    const isTaken = await announcer.round(group, async (announced) => {
      const { begun, ended } = changesOf(findings, announced, watched);
      const blind = begun.length === 0 ? [] : await store.list(GROUPS.unread(service));
      const isBlind = ({ protocol }: SilentProtocol): boolean =>
        blind.some(({ members }) => members.length === 0 || members.includes(protocol));
      const news = begun.filter((one) => !isBlind(one));
      return {
        begun: news.length === 0 ? [] : [beginningOf(service, news, clock(service))],
        ended: ended.map((one) => endingOf(service, one, watched, now())),
      };
    });
    // Another daemon is about to say something; the next answer says the same.
    if (!isTaken) times.again(service, findings);
  };

  return {
    round: async (service: string, signal: AbortSignal): Promise<void> => {
      const names = await protocolsOf(service);
      const isMine = isOwn(service);
      const all = times.due(service, names);
      for (const name of all) if (!isMine(name)) times.asked(service, name);
      const due = all.filter(isMine).slice(0, MOST_A_ROUND);
      if (due.length === 0) return;
      const watched = new Set(names);
      const before = new Set((await store.list(GROUPS.silent(service))).flatMap(({ members }) => members));
      await tell(service, await ask(service, due, before, signal), watched);
      if (times.isHousekeepingDue(service)) await habits.retain(service, watched);
    },
  };
};
