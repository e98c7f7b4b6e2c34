/** Destinations whose receiver wants nothing more: what is for them dies at once, until somebody enables them again. */
import type { Cluster, Redis } from 'ioredis';
import type { Alert, Destination } from '../alert.ts';
import type { DeadLetters } from '../ledger/dead-letters.ts';
import type { DestinationStats } from '../ledger/destination-stats.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { type Target, targetOf } from '../ledger/record.ts';
import type { ProcessParcel } from '../queue/queues.ts';
import { iso } from '../time.ts';
import type { AttemptEvent } from './attempt.ts';

export interface DisabledDestination extends Target {
  /** ISO 8601. */
  at: string;
  /** What the receiver said, in a sentence without secrets. */
  message: string;
}

export interface Disabled {
  find(id: Destination['id']): Promise<DisabledDestination | undefined>;
  disable(destination: Destination, at: string, message: string): Promise<void>;
  /** False where it was not disabled. */
  enable(id: Destination['id']): Promise<boolean>;
  /** Latest first. */
  list(): Promise<DisabledDestination[]>;
}

const parse = (json: string): DisabledDestination => JSON.parse(json) as DisabledDestination;

export const createDisabled = (redis: Redis | Cluster, prefix: string): Disabled => {
  const key = `${prefix}:disabled`;
  return {
    find: async (id) => {
      const json = await redis.hget(key, id);
      return json === null ? undefined : parse(json);
    },
    disable: async (destination, at, message) => {
      const disabled: DisabledDestination = { ...targetOf(destination), at, message };
      await redis.hsetnx(key, destination.id, JSON.stringify(disabled));
    },
    enable: async (id) => (await redis.hdel(key, id)) === 1,
    list: async () =>
      Object.values(await redis.hgetall(key))
        .map(parse)
        .toSorted((a, b) => b.at.localeCompare(a.at)),
  };
};

export interface RefusalDependencies {
  disabled: Pick<Disabled, 'find'>;
  ledger: Pick<Ledger, 'pending' | 'recordAttempt'>;
  dead: Pick<DeadLetters, 'add'>;
  destinationStats: Pick<DestinationStats, 'failed'>;
  onDead(destination: Destination, alerts: readonly Alert[], why: string): Promise<void>;
  onAttempt(event: AttemptEvent): void;
  now(): number;
}

const REASON = 'disabled';

/** Ends what is for a disabled destination before anything of it is sent, and leaves the rest to `deliver`. */
export const refuseDisabled = (dependencies: RefusalDependencies, deliver: ProcessParcel): ProcessParcel => {
  const { disabled, ledger, dead, destinationStats, now } = dependencies;

  const end = async (destination: Destination, alerts: readonly Alert[], attempts: number, why: string) => {
    const at = iso(now());
    const said = { reason: REASON, message: why };
    for (const alert of alerts) await dead.add({ alert, destination, attempts, at, ...said });
    await dependencies.onDead(destination, alerts, why);
    const attempt = { at, outcome: 'dead', durationMs: 0, ...said } as const;
    await ledger.recordAttempt(destination, alerts, { state: 'dead', attempt });
    await destinationStats.failed(destination, alerts.length, at, why);
    const { kind } = destination;
    dependencies.onAttempt({ kind, destination, alerts, attempt: attempts, outcome: 'dead', durationMs: 0, ...said });
  };

  return async (job, signal) => {
    const { destination, attempt } = job;
    const found = await disabled.find(destination.id);
    if (found === undefined) return deliver(job, signal);
    const alerts = await ledger.pending(destination, job.alerts);
    const why = `disabled since ${found.at}, when ${found.message}; tocsin destinations enable ${destination.id}`;
    if (alerts.length > 0) await end(destination, alerts, attempt, why);
    return { done: true };
  };
};
