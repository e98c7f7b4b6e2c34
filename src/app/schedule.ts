/** Everything that a daemon's schedule can hold; travels through Redis, so any daemon can take it. */
import type { Config } from '../config/schema.ts';
import { hasRecheck, recheckEveryMs } from '../features/recheck/job.ts';
import type { TurnData } from '../poll/turns.ts';
import type { Turn } from '../queue/schedule.ts';

/**
 * `look`: rechecks that are due, in Redis under this name. `audit`: compares the ledger with the service; `isUrgent` after
 * Redis may have lost something, see `features/audit/job.ts`.
 */
export type ReviewTurn = { kind: 'look' | 'audit'; service: string; isUrgent?: true };

/** Ends mutes, and sends the alerts that were held for destinations that are approved now. */
export type ReleaseTurn = { kind: 'release' };

export type DaemonTurn = TurnData | ReviewTurn | ReleaseTurn;

export const isReview = (turn: DaemonTurn): turn is ReviewTurn => turn.kind === 'look' || turn.kind === 'audit';

const RELEASE_EVERY_MS = 5000;

const auditTurn = (service: string, index: number, everyMs: number): Turn<ReviewTurn> => ({
  id: `audit.${index}.${service}`,
  everyMs,
  data: { kind: 'audit', service },
});

/** By then every daemon is connected again, and the commands that it kept back have reached Redis. */
const URGENT_AFTER_MS = 5000;

/** One daemon takes them, however many ask for them. `server`: the id of the Redis server that was found. */
export const urgentAudits = (config: Config, server: string) =>
  config.services.map(({ name: service }, index) => ({
    id: `audit.${index}.${service}.${server}`,
    delayMs: URGENT_AFTER_MS,
    data: { kind: 'audit', service, isUrgent: true } satisfies ReviewTurn,
  }));

const recheckTurn = (service: string, index: number, everyMs: number): Turn<ReviewTurn> => ({
  id: `look.${index}.${service}`,
  everyMs,
  data: { kind: 'look', service },
});

/** Turns that do not depend on which protocols there are. */
export const reviewTurns = (config: Config): Turn<ReviewTurn | ReleaseTurn>[] => [
  { id: 'release', everyMs: RELEASE_EVERY_MS, data: { kind: 'release' } },
  ...config.services.flatMap(({ name }, index) => [
    ...(hasRecheck(config) ? [recheckTurn(name, index, recheckEveryMs(config))] : []),
    auditTurn(name, index, config.audit.every),
  ]),
];
