/**
 * Which daemons share this Redis and live. Each beats every second; one whose beat has not changed for a few seconds is
 * gone. Everybody judges by what it saw itself, on a monotonic clock: no two clocks are compared.
 */
import type { RedisClient } from './connect.ts';
import { isAlive } from './pid.ts';

export interface Member {
  /** Of one run of a daemon. */
  id: string;
  host: string;
  pid: number;
  /** As `pidNamespace`: containers may share the name of their host. */
  pids?: string;
  /** Ids of its BullMQ workers: a job's lock names the worker that runs it. */
  workers: readonly string[];
  /** Services that it polls, and those of them that do not answer it. */
  services: readonly string[];
  blindTo: readonly string[];
  /** Print of its config: the same where they read, route and send the same. */
  config: string;
}

interface MembersDependencies {
  redis: RedisClient;
  prefix: string;
  /** Who we are; its workers may still change. */
  self(): Member;
  monotonic(): number;
}

export const BEAT_EVERY_MS = 1000;
/** A member that was silent for so long is gone: longer than any pause of a healthy process. */
const SILENT_MS = 4000;
/** The same where its process is known to have ended, and where it is known to live: on a busy machine it may only be slow. */
const SILENT_ENDED_MS = 1500;
const SILENT_ALIVE_MS = 10_000;
/** Where our own beats were further apart, we missed others', too. */
const LONGEST_GAP_MS = 3 * BEAT_EVERY_MS;

/** Members of this process. Another one with our pid is of an earlier process with the same pid. */
const ownMembers = new Set<string>();

interface Watched {
  member: Member;
  beat: string;
  /** Since when its beat has not changed. */
  since: number;
}

/** How long it must have been silent to be gone, in milliseconds. Another host's processes are not seen. */
const silenceOf = async ({ id, host, pid, pids }: Member, self: Member): Promise<number> => {
  if (host !== self.host || pids !== self.pids) return SILENT_MS;
  const lives = ownMembers.has(id) || (pid !== process.pid && (await isAlive(pid)));
  return lives ? SILENT_ALIVE_MS : SILENT_ENDED_MS;
};

export const createMembers = ({ redis, prefix, self, monotonic }: MembersDependencies) => {
  const key = `${prefix}:members`;
  const { id: own } = self();
  ownMembers.add(own);
  let beats = 0;
  let lastBeatAt = monotonic();
  let others = new Map<string, Watched>();
  /** Those of them that Redis has lost, and that have not beaten since. */
  let lost = new Map<string, Watched>();
  let gone = new Set<string>();

  /** `isEmptied`: Redis has lost our own entry, so those that are missing have not left. */
  const note = (entries: Record<string, string>, isEmptied: boolean): void => {
    const at = monotonic();
    const isGap = at - lastBeatAt > LONGEST_GAP_MS;
    lastBeatAt = at;
    const heard = Object.entries(entries).filter(([id]) => id !== own);
    const missing = isEmptied ? others : lost;
    lost = new Map([...missing].filter(([id]) => !(id in entries)));
    others = new Map([
      ...lost,
      ...heard.map(([id, beat]): [string, Watched] => {
        const before = others.get(id);
        if (before?.beat === beat) return [id, isGap ? { ...before, since: at } : before];
        return [id, { member: { ...(JSON.parse(beat) as Member), id }, beat, since: at }];
      }),
    ]);
  };

  const isGone = async ({ member, since }: Watched): Promise<boolean> => {
    const silentMs = lastBeatAt - since;
    if (silentMs < SILENT_ENDED_MS) return false;
    return silentMs >= (await silenceOf(member, self()));
  };

  const members = (): Member[] =>
    [self(), ...[...others.values()].map(({ member }) => member)]
      .filter(({ id }) => !gone.has(id))
      .sort((a, b) => (a.id < b.id ? -1 : 1));

  return {
    /** To be called every `BEAT_EVERY_MS`. Gives those that have gone; each again until it is forgotten. */
    beat: async (): Promise<Member[]> => {
      const { id, ...rest } = self();
      beats += 1;
      const written = redis.hset(key, id, JSON.stringify({ ...rest, beats }));
      const [added, entries] = await Promise.all([written, redis.hgetall(key)]);
      note(entries, added === 1 && beats > 1);
      const judged = await Promise.all([...others.values()].map(async (one) => ({ one, ended: await isGone(one) })));
      const found = judged.filter(({ ended }) => ended).map(({ one }) => one.member);
      gone = new Set(found.map(({ id: each }) => each));
      return found;
    },
    /** Every member that is not known to be gone, this one included; in the same order for all of them. */
    members,
    /** To be called once nothing is left to do for a member that is gone. */
    forget: async (id: string): Promise<void> => {
      lost.delete(id);
      await redis.hdel(key, id);
    },
    leave: async (): Promise<void> => {
      ownMembers.delete(own);
      await redis.hdel(key, own);
    },
  };
};

export type Members = ReturnType<typeof createMembers>;
