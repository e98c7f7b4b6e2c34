/** Asks in turn when each protocol was last inspected, and has those announced of which nothing is for far too long. */
import type { Logger } from 'pino';
import { mapInChunks } from '../../chunks.ts';
import { ServiceError } from '../../errors.ts';
import type { Locks } from '../../redis/lock.ts';
import type { Blindness, BlindnessStore } from '../blindness/store.ts';
import { type Habit, type Silence, silenceOf } from './habit.ts';
import type { SilentProtocol } from './message.ts';
import type { SilenceNotifier } from './notifier.ts';
import type { Probe, Probed } from './probe.ts';
import type { HabitStore } from './store.ts';
import type { ProbeTimes } from './times.ts';

export interface SilenceCheckDependencies {
  probe: Probe;
  habits: HabitStore;
  /** What is announced. */
  silent: Pick<BlindnessStore, 'list'>;
  /** What cannot be read: of that, nobody knows whether it is silent. */
  unread: Pick<BlindnessStore, 'list'>;
  notifier: SilenceNotifier;
  locks: Locks;
  times: ProbeTimes;
  /** Protocols of a service whose inspections are asked for. */
  protocolsOf(service: string): Promise<readonly string[]>;
  /** Whether this daemon is the one that asks. */
  isOwn(service: string): (protocol: string) => boolean;
  /** What the operator says, in milliseconds. */
  expectEvery(protocol: string): number | undefined;
  clock(service: string): number;
  log: Pick<Logger, 'debug'>;
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

/** Whether something is to be announced. */
const newsOf = (findings: readonly Finding[], announced: readonly Blindness[], watched: ReadonlySet<string>) => {
  const told = new Set(announced.flatMap(({ protocols }) => protocols));
  const newest = new Map(findings.map(({ protocol, habit }) => [protocol, habit.newest ?? 0]));
  const begun = findings.flatMap(({ protocol, silence, isSure }): SilentProtocol[] =>
    silence === undefined || !isSure || told.has(protocol) ? [] : [{ protocol, ...silence }],
  );
  const ended = announced.flatMap((one) => {
    const isHeard = (name: string): boolean => (newest.get(name) ?? 0) > Date.parse(one.since);
    const protocols = one.protocols.filter((name) => isHeard(name) || !watched.has(name));
    return protocols.length === 0 ? [] : [{ announced: one, protocols }];
  });
  const isNews = begun.length > 0 || ended.length > 0 || announced.some(({ isTold }) => !isTold);
  return { begun, ended, isNews };
};

export const createSilenceCheck = (dependencies: SilenceCheckDependencies) => {
  const { probe, habits, silent, unread, notifier, locks, times, protocolsOf, isOwn, clock, log } = dependencies;

  const ask = async (service: string, due: readonly string[], told: ReadonlySet<string>, signal: AbortSignal) => {
    const known = await habits.read(service, due);
    let isDown = false;
    const asked = await mapInChunks([...due.entries()], AT_ONCE, async ([index, protocol]): Promise<Finding[]> => {
      // What one request has shown, the others need not.
      if (isDown || signal.aborted) return [];
      try {
        const expected = dependencies.expectEvery(protocol);
        const silenceIn = (habit: Habit): Silence | undefined => silenceOf(habit, clock(service), expected);
        const isSilent = (habit: Habit): boolean => silenceIn(habit) !== undefined;
        const probed = await probe(service, protocol, known[index], { wasTold: told.has(protocol), isSilent, signal });
        times.asked(service, protocol, { isBehind: probed.behind > 0, requests: probed.requests });
        const silence = silenceIn(probed.habit);
        return [{ protocol, silence, ...probed }];
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
    const held = await locks.take([`silence:${service}`]);
    // Another daemon is about to say something; the next answer says the same.
    if (held === undefined)
      return times.again(
        service,
        findings.map(({ protocol }) => protocol),
      );
    try {
      const announced = await silent.list(service);
      const { begun, ended } = newsOf(findings, announced, watched);
      for (const one of announced) if (!one.isTold) await notifier.tell(service, one);
      for (const one of ended) await notifier.end(service, one, watched);
      const blind = begun.length === 0 ? [] : await unread.list(service);
      const isBlind = ({ protocol }: SilentProtocol): boolean =>
        blind.some(({ isWhole, protocols }) => isWhole || protocols.includes(protocol));
      const news = begun.filter((one) => !isBlind(one));
      if (news.length > 0) await notifier.begin(service, news, clock(service));
    } finally {
      await held.release();
    }
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
      const announced = await silent.list(service);
      const told = new Set(announced.flatMap(({ protocols }) => protocols));
      const findings = await ask(service, due, told, signal);
      if (newsOf(findings, announced, watched).isNews) await tell(service, findings, watched);
      if (times.isHousekeepingDue(service)) await habits.retain(service, watched);
    },
  };
};
