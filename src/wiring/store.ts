/** Everything that is kept in Redis, by owner: what the daemon works with and the commands look at. */
import { createAmendments } from '../deliver/amend.ts';
import { createBreaks } from '../deliver/breaks.ts';
import { createCircuits } from '../deliver/circuit.ts';
import { createCorrelated } from '../deliver/correlated.ts';
import { createDeadLetters } from '../deliver/dead.ts';
import { createDisabled } from '../deliver/disabled.ts';
import { createHeld } from '../deliver/held.ts';
import { createLedger } from '../deliver/ledger.ts';
import { createMoves } from '../deliver/moves.ts';
import { createMutes } from '../deliver/mutes.ts';
import { createRegister } from '../deliver/register.ts';
import { createSlots } from '../deliver/slots.ts';
import { createStandings } from '../deliver/standing.ts';
import { createFirsts } from '../dispatch/firsts.ts';
import { createCursors } from '../poll/cursor.ts';
import { createQuarantine } from '../poll/quarantine.ts';
import { createSeen } from '../poll/seen.ts';
import { createBacklog } from '../queue/backlog.ts';
import { createDeadlines } from '../queue/deadlines.ts';
import { createParcelQueues, type RedisClient } from '../queue/queues.ts';
import { createSchedule } from '../queue/schedule.ts';
import type { DaemonTurn } from './turns.ts';

export interface StoreSettings {
  redis: RedisClient;
  /** With its hash tag, see `keyPrefix`. */
  prefix: string;
  onError(queue: string, error: Error): void;
  now(): number;
}

export type Store = ReturnType<typeof createStore>;

export const createStore = ({ redis, prefix, onError, now }: StoreSettings) => {
  const queues = createParcelQueues({ redis, prefix, onError });
  const schedule = createSchedule<DaemonTurn>({ redis, prefix, onError });
  const deadlines = createDeadlines({ redis, prefix, onError });
  return {
    redis,
    prefix,
    queues,
    schedule,
    deadlines,
    cursors: createCursors(redis, prefix),
    seen: createSeen(redis, prefix),
    quarantine: createQuarantine(redis, prefix, now),
    ledger: createLedger(redis, prefix, now),
    register: createRegister(redis, prefix, now),
    amendments: createAmendments(redis, prefix, now),
    dead: createDeadLetters(redis, prefix),
    standings: createStandings(redis, prefix),
    disabled: createDisabled(redis, prefix),
    mutes: createMutes(redis, prefix, now),
    held: createHeld(redis, prefix, now),
    slots: createSlots(redis, prefix, now),
    circuits: createCircuits(redis, prefix, now),
    backlog: createBacklog(redis, prefix),
    breaks: createBreaks(redis, prefix),
    moves: createMoves(redis, prefix),
    correlated: createCorrelated(redis, prefix, now),
    firsts: createFirsts(redis, prefix, now),
    close: async () => {
      await Promise.all([queues.close(), schedule.close(), deadlines.close()]);
    },
  };
};
