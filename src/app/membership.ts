/** Tells other daemons and the commands that this one lives and how it is doing, and frees the jobs of one that is gone. */
import { hostname } from 'node:os';
import { CHANNEL_KINDS } from '../alert.ts';
import type { DaemonReport } from '../features/conditions/daemons.ts';
import { createRedisCheck } from '../ops/checks.ts';
import { queueName } from '../queue/settings.ts';
import { BEAT_EVERY_MS, createMembers, type Member, type Members } from '../redis/members.ts';
import { pidNamespace } from '../redis/pid.ts';
import { endedWithin, pause } from '../waiting.ts';
import { type Context, type Host, monotonic } from './context.ts';
import type { Delivering } from './deliver.ts';
import type { Reading } from './poll.ts';

type MembershipContext = Pick<Context, 'id' | 'health' | 'log' | 'stopping'> & {
  standing: Pick<Context['standing'], 'print' | 'look'>;
  store: Pick<Context['store'], 'redis' | 'prefix' | 'abandonedJobs'>;
};

interface MembershipParts {
  polls: Reading['polls'];
  workers(): readonly Pick<ReturnType<Delivering['workers']>[number], 'id' | 'kind' | 'checkStalled'>[];
}

/** A stopping daemon waits at most this long to say that it leaves, and to remove its report. */
const FAREWELL_MS = 1000;

/** Those that poll a service by the same config. Another config does not count, see `features/standby`. */
const pollersOf = (service: string, members: readonly Member[], own: string): Member[] => {
  const config = members.find(({ id }) => id === own)?.config;
  return members.filter((member) => member.services.includes(service) && member.config === config);
};

/** Who shares a service: those that poll it, but for those that it does not answer, unless it answers nobody. */
export const readersOf = (service: string, members: readonly Member[], own: string): string[] => {
  const all = pollersOf(service, members, own);
  const able = all.filter(({ blindTo }) => !blindTo.includes(service));
  return (able.length > 0 ? able : all).map(({ id }) => id);
};

const createFree =
  (members: Members, { store, log }: MembershipContext, { workers }: MembershipParts) =>
  async ({ id, host, pid, workers: theirs }: Member): Promise<void> => {
    let jobs = 0;
    // It may have delivered other kinds than this one: their workers look by themselves, every few seconds.
    for (const kind of CHANNEL_KINDS) {
      const freed = await store.abandonedJobs.free(queueName(kind), theirs);
      if (freed > 0)
        await workers()
          .find((worker) => worker.kind === kind)
          ?.checkStalled();
      jobs += freed;
    }
    await members.forget(id);
    log.info({ daemonHost: host, daemonPid: pid, jobs }, 'a daemon is gone; the jobs that it ran start again');
  };

/** Who announces what cannot be read: it stays the same one while a service goes and comes back. */
export const announcerOf = (service: string, members: readonly Member[], own: string): string | undefined =>
  pollersOf(service, members, own)[0]?.id;

/** Beats for this daemon, and frees the jobs of one that is gone. */
export const openMembership = (context: MembershipContext, parts: MembershipParts) => {
  const { id, store, standing, log, stopping } = context;
  const { polls, workers } = parts;
  const redisCheck = createRedisCheck(context.health);
  const { redis, prefix } = store;
  // Asked of the system once: every poll that is shared out looks at the members.
  const place = { host: hostname(), pid: process.pid, pids: pidNamespace() };
  const self = (): Member => ({
    id,
    ...place,
    workers: workers().map((worker) => worker.id),
    ...polls(),
    config: standing.print(),
  });
  const members = createMembers({ redis, prefix, self, monotonic });
  const free = createFree(members, context, parts);
  let timer: NodeJS.Timeout | undefined;
  let isBeating = false;

  const beat = async (): Promise<void> => {
    // Without Redis a beat waits for it.
    if (isBeating) return;
    isBeating = true;
    try {
      const gone = await members.beat();
      redisCheck.answered();
      for (const member of gone) await free(member);
      await standing.look(members.members());
    } catch (error) {
      redisCheck.refused(error);
      if (!stopping.aborted) log.warn({ err: error }, 'this daemon could not say that it lives; trying again');
    } finally {
      isBeating = false;
    }
  };

  return {
    readersOf: (service: string) => readersOf(service, members.members(), id),
    announces: (service: string): boolean => announcerOf(service, members.members(), id) === id,
    start: async (): Promise<void> => {
      await beat();
      // It was stopped while Redis did not answer: who is not there must not beat.
      if (stopping.aborted) {
        await members.leave();
        return;
      }
      timer = setInterval(() => {
        redisCheck.look();
        void beat();
      }, BEAT_EVERY_MS);
    },
    stop: async (): Promise<void> => {
      clearInterval(timer);
      if (redis.status === 'ready') await endedWithin(members.leave(), FAREWELL_MS);
    },
  };
};

/** Well below what makes others think that this daemon does not run. */
const REPORT_EVERY_MS = 5000;
/** While it is not ready, so that a start and a recovery show soon. */
const REPORT_TROUBLE_EVERY_MS = 1000;

/** Writes every few seconds how this daemon is doing, and removes that when the daemon stops. */
export const startReporting = ({ store, log }: Host, selfReport: () => DaemonReport, stopping: AbortSignal) => {
  const { redis, daemonReports } = store;
  let waiting = new AbortController();
  const failed = (error: unknown): void => {
    if (!stopping.aborted) log.warn({ err: error }, 'this daemon cannot tell others how it is doing; trying again');
  };
  const stopped = new Promise<void>((resolve) => {
    stopping.addEventListener('abort', () => resolve(), { once: true });
  });
  const report = async (): Promise<void> => {
    while (!stopping.aborted) {
      const own = selfReport();
      waiting = new AbortController();
      // Without Redis a write waits for it to come back: a stop must not.
      await Promise.race([daemonReports.write(own).catch(failed), stopped]);
      const everyMs = own.ready ? REPORT_EVERY_MS : REPORT_TROUBLE_EVERY_MS;
      await pause(everyMs, AbortSignal.any([waiting.signal, stopping]));
    }
    // Without Redis the report cannot be removed, and grows old instead. A connection may look ready and be dead.
    if (redis.status !== 'ready') return;
    await endedWithin(daemonReports.remove(selfReport().id).catch(failed), FAREWELL_MS);
  };
  return {
    /** Never rejects. */
    ended: report(),
    /** Something is to be known at once. */
    tellNow: (): void => waiting.abort(),
  };
};
