/** Everything that is kept in Redis, by owner: what the daemon works with and the commands look at. */

import { createMoves } from '../deliver/address-changes.ts';
import { createCircuits } from '../deliver/circuit-breaker.ts';
import { createDisabled } from '../deliver/disabled.ts';
import { createSlots } from '../deliver/rate-limiter.ts';
import { createHeld } from '../features/approval/store.ts';
import { createCorrelated } from '../features/correlation/ledger.ts';
import { createFirsts } from '../features/enrichment/first-seen.ts';
import { createMutes } from '../features/mutes/store.ts';
import { createBreaks } from '../features/outages/store.ts';
import { createAmendments } from '../ledger/corrections.ts';
import { createDeadLetters } from '../ledger/dead-letters.ts';
import { createStandings } from '../ledger/destination-stats.ts';
import { createRegister } from '../ledger/index-by-date.ts';
import { createLedger } from '../ledger/ledger.ts';
import { createCursors } from '../poll/cursor.ts';
import { createQuarantine } from '../poll/quarantine.ts';
import { createSeen } from '../poll/seen.ts';
import { createBacklog } from '../queue/batch-store.ts';
import { createDeadlines } from '../queue/deadlines.ts';
import { createParcelQueues, type RedisClient } from '../queue/queues.ts';
import { createSchedule } from '../queue/schedule.ts';
import type { DaemonTurn } from './schedule.ts';

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
