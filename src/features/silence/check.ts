/** Asks in turn when each protocol was last inspected, and has those announced of which nothing is for far too long. */
import type { Logger } from 'pino';
import type { Destination } from '../../alert.ts';
import { getOrCreate } from '../../bounded-map.ts';
import { mapInChunks } from '../../chunks.ts';
import { isOfOneProtocol, ServiceError } from '../../errors.ts';
import { contentId } from '../../item.ts';
import { createRarely } from '../../rarely.ts';
import { HOUR_MS, iso } from '../../time.ts';
import type { Announcer, Beginning, Ending, Group } from '../conditions/announcer.ts';
import { type AnnouncedStore, fewOf, GROUPS, type Over, overAmong, overFacts } from '../conditions/store.ts';
import { heardText, type SilentProtocol, silentText } from './message.ts';
import { createProbe, type HabitStore, type ProbeDependencies, type Probed } from './probe.ts';

interface ProbeTimesDependencies {
  /** Requests a second to one service. */
  requestsPerSecond: number;
  /** What the operator expects of a protocol, in milliseconds. */
  expectEvery(protocol: string): number | undefined;
  /** How often each is asked for, where there are few. */
  leastMs: number;
  monotonic(): number;
}

/** Of the budget. */
const SHARE = 0.05;
/** What the operator expects is looked at so often within its time. */
const LOOKS = 4;

/** Between 0 and 1, the same for the same name. */
const placeOf = (service: string, protocol: string): number =>
  Number.parseInt(contentId(service, protocol).slice(0, 8), 16) / 2 ** 32;

/** When each protocol is asked for: seldom, spread, and within a small share of the service's budget of requests. */
export const createProbeTimes = (dependencies: ProbeTimesDependencies) => {
  const { requestsPerSecond, expectEvery, leastMs, monotonic } = dependencies;
  /** `paidUntil`: until then the requests that were sent use up the share of the budget. */
  const services = new Map<string, { next: Map<string, number>; paidUntil: number }>();

  const timesOf = (service: string) => getOrCreate(services, service, () => ({ next: new Map(), paidUntil: 0 }));
  const costMs = (requests: number): number => (1000 * requests) / (SHARE * requestsPerSecond);
  const everyMs = (protocol: string, protocols: number): number =>
    Math.min(Math.max(leastMs, costMs(protocols)), (expectEvery(protocol) ?? Infinity) / LOOKS);

  return {
    /** Those that it is time for, the latest first. */
    due: (service: string, protocols: readonly string[]): string[] => {
      const { next, paidUntil } = timesOf(service);
      const names = new Set(protocols);
      for (const name of next.keys()) if (!names.has(name)) next.delete(name);
      const now = monotonic();
      const timeOf = (name: string): number =>
        getOrCreate(next, name, () => now + placeOf(service, name) * everyMs(name, protocols.length));
      // What the operator expects does not wait for what others learn.
      const isDue = (name: string): boolean =>
        timeOf(name) <= now && (paidUntil <= now || expectEvery(name) !== undefined);
      return protocols.filter(isDue).toSorted((a, b) => timeOf(a) - timeOf(b));
    },
    /** With so many requests. `isBehind`: there is more to read or to say, so it comes again as soon as the budget allows. */
    asked: (service: string, protocol: string, { isBehind = false, requests = 0 } = {}): void => {
      const now = monotonic();
      const times = timesOf(service);
      times.next.set(protocol, now + (isBehind ? 0 : everyMs(protocol, times.next.size)));
      times.paidUntil = Math.max(now, times.paidUntil) + costMs(requests);
    },
  };
};

interface SilenceCheckDependencies extends ProbeTimesDependencies, ProbeDependencies {
  habits: HabitStore;
  /** What is announced as silent, and what cannot be read: of that, nobody knows whether it is silent. */
  store: Pick<AnnouncedStore, 'list'>;
  announcer: Pick<Announcer, 'round'>;
  destinationsOf(service: string, protocols: readonly string[]): Promise<Destination[]>;
  /** Protocols of a service whose inspections are asked for. */
  protocolsOf(service: string): Promise<readonly string[]>;
  log: Pick<Logger, 'debug'>;
  now(): number;
}

/** Protocols of a service that one round asks for, and so many at the same time. */
const MOST_A_ROUND = 40;
const AT_ONCE = 4;

interface Finding extends Probed {
  protocol: string;
}

const beginningOf = (service: string, found: readonly SilentProtocol[], at: number): Beginning => {
  const members = found.map(({ protocol }) => protocol);
  const since = iso(at - Math.min(...found.map(({ forMs }) => forMs)));
  const named = (names: readonly string[]) => found.filter(({ protocol }) => names.includes(protocol));
  return {
    ...{ key: `${service} ${iso(at)}`, since, members },
    words: (loud) => silentText(service, named(loud)),
    said: { text: 'nothing is inspected', fields: { service, since, ...fewOf(members) } },
  };
};

const endingOf = (service: string, over: Over, watched: readonly string[], now: number): Ending => {
  const facts = overFacts(service, over, watched, now);
  const fields = { service, since: facts.since, ...fewOf(facts.protocols) };
  return { of: [over], words: () => heardText(service, facts), said: { text: 'inspected again', fields } };
};

export const createSilenceCheck = (dependencies: SilenceCheckDependencies) => {
  const { habits, store, announcer, destinationsOf, protocolsOf, clock, log, now } = dependencies;
  const [probe, times] = [createProbe(dependencies), createProbeTimes(dependencies)];

  const rarely = createRarely(now, HOUR_MS);

  const ask = async (service: string, due: readonly string[], before: ReadonlySet<string>, signal: AbortSignal) => {
    const known = await habits.read(service, due);
    let isDown = false;
    const asked = await mapInChunks([...due.entries()], AT_ONCE, async ([index, protocol]): Promise<Finding[]> => {
      // What one request has shown, the others need not.
      if (isDown || signal.aborted) return [];
      try {
        const asking = { wasAnnounced: before.has(protocol), expectEvery: dependencies.expectEvery(protocol), signal };
        const probed = await probe(service, protocol, known[index], asking);
        times.asked(service, protocol, { isBehind: probed.behind > 0, requests: probed.requests });
        return [{ protocol, ...probed }];
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
        times.asked(service, protocol, { requests: 1 });
        isDown ||= !isOfOneProtocol(error);
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
    const newest = new Map(findings.map(({ protocol, habit }) => [protocol, habit.newest ?? 0]));
    const isTaken = await announcer.round(group, async (announced) => {
      const known = new Set(announced.flatMap(({ members }) => members));
      const silent = findings.flatMap(({ protocol, silence }): SilentProtocol[] =>
        silence === undefined || known.has(protocol) ? [] : [{ protocol, ...silence }],
      );
      const blind = silent.length === 0 ? [] : await store.list(GROUPS.unread(service));
      const isBlind = ({ protocol }: SilentProtocol): boolean =>
        blind.some(({ members }) => members.length === 0 || members.includes(protocol));
      const begun = silent.filter((one) => !isBlind(one));
      // What is dated later than the newest of them is no silence any more.
      const over = overAmong(
        announced,
        (name, { since }) => !watched.has(name) || (newest.get(name) ?? 0) > Date.parse(since),
      );
      return {
        begun: begun.length === 0 ? [] : [beginningOf(service, begun, clock(service))],
        ended: over.map((one) => endingOf(service, one, [...watched], now())),
      };
    });
    // Another daemon is about to say something; the next answer says the same.
    if (!isTaken) for (const { protocol } of findings) times.asked(service, protocol, { isBehind: true });
  };

  return {
    /** One daemon asks for all of them. */
    round: async (service: string, signal: AbortSignal): Promise<void> => {
      const names = await protocolsOf(service);
      const due = times.due(service, names).slice(0, MOST_A_ROUND);
      if (due.length === 0) return;
      const watched = new Set(names);
      const before = new Set((await store.list(GROUPS.silent(service))).flatMap(({ members }) => members));
      await tell(service, await ask(service, due, before, signal), watched);
      const keeping: Promise<void>[] = [];
      rarely(service, () => void keeping.push(habits.retain(service, watched)));
      await Promise.all(keeping);
    },
  };
};
