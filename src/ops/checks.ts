/** What looks by itself whether the daemon can work: at the channels, at Redis, and for jobs of newer versions. */
import type { ChannelKind } from '../alert.ts';
import { messageOf } from '../errors.ts';
import type { Conditions } from './conditions.ts';
import type { FailureLog } from './failure-log.ts';
import type { Health } from './health.ts';

/** Asks its provider whether the token is valid or the server is reachable; throws where it is not. */
interface CheckedChannel {
  kind: ChannelKind;
  verify(signal: AbortSignal): Promise<unknown>;
}

interface ChannelCheckDependencies {
  channels: readonly CheckedChannel[];
  health: Health;
  failureLog: FailureLog;
  /** Aborted when the daemon stops: a question that is cut short then says nothing about the channel. */
  signal: AbortSignal;
  /** Default 5 minutes; never more seldom. */
  askEveryMs?: number | undefined;
  now(): number;
}

const ASK_EVERY_MS = 5 * 60_000;
/** A channel that failed is asked again soon, so that its recovery shows within seconds; each time later, at most so late. */
const ASK_AGAIN_MS = 5000;
const LATEST_AGAIN_MS = 60_000;
/** How often `round` is to be called. */
export const CHANNEL_ROUND_MS = 1000;
/** While messages keep failing, a channel that works is asked at most so often. */
const SUSPECT_EVERY_MS = 5000;
const TIMEOUT_MS = 10_000;

/** Asks each channel every few minutes whether it may send at all, before an alert has to find out. */
export const createChannelCheck = (dependencies: ChannelCheckDependencies) => {
  const { channels, health, failureLog, signal, askEveryMs = ASK_EVERY_MS, now } = dependencies;
  const everyMs = Math.min(ASK_EVERY_MS, askEveryMs);
  /** `failures`: in a row. */
  const asked = new Map<ChannelKind, { at: number; failures: number }>();
  const lastOf = (kind: ChannelKind) => asked.get(kind) ?? { at: Number.NEGATIVE_INFINITY, failures: 0 };

  const ask = async ({ kind, verify }: CheckedChannel, isProof = true): Promise<void> => {
    const { failures } = lastOf(kind);
    asked.set(kind, { at: now(), failures });
    try {
      await verify(AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
      if (isProof) health.prove(`channel:${kind}`);
      failureLog.worked('channels', kind);
      asked.set(kind, { at: now(), failures: 0 });
    } catch (error) {
      if (signal.aborted) return;
      health.fail(`channel:${kind}`, messageOf(error));
      failureLog.failed('channels', kind, error);
      asked.set(kind, { at: now(), failures: failures + 1 });
    }
  };

  const isDue = ({ kind }: CheckedChannel): boolean => {
    const { at, failures } = lastOf(kind);
    const againMs = failures === 0 ? everyMs : Math.min(LATEST_AGAIN_MS, ASK_AGAIN_MS * 2 ** (failures - 1));
    return now() - at >= Math.min(everyMs, againMs);
  };

  return {
    /** To be called often: asks each channel only when that is due. */
    round: async (): Promise<void> => {
      await Promise.all(channels.filter(isDue).map((one) => ask(one)));
    },
    /** A message was not accepted: it may be the message, its destination, or the channel as a whole. Never rejects. */
    suspect: async (kind: ChannelKind): Promise<void> => {
      const channel = channels.find((one) => one.kind === kind);
      const { at, failures } = lastOf(kind);
      if (!channel || failures > 0 || now() - at < SUSPECT_EVERY_MS) return;
      // A token may be valid and still not be allowed to send: after a refusal this proves nothing.
      await ask(channel, false);
    },
  };
};

/** Longer than a quick restart of Redis takes, or a beat on a busy machine. */
const SILENT_MS = 3000;

/** Whether Redis answers, known within seconds: this daemon's beats ask it every second. */
export const createRedisCheck = (health: Health, monotonic = (): number => performance.now()) => {
  let answeredAt = monotonic();
  let lookedAt = monotonic();
  let why: string | undefined;
  return {
    answered: (): void => {
      answeredAt = monotonic();
      why = undefined;
      health.prove('redis');
    },
    /** A beat failed; whether Redis fails for good, the next seconds show. */
    refused: (error: unknown): void => {
      why = `Redis does not take our commands: ${messageOf(error)}`;
    },
    /** To be called every second. */
    look: (): void => {
      const pausedMs = monotonic() - lookedAt;
      lookedAt = monotonic();
      // The event loop was blocked, or the machine slept: nobody could have heard an answer.
      if (pausedMs > SILENT_MS) answeredAt = monotonic();
      if (monotonic() - answeredAt > SILENT_MS) health.fail('redis', why ?? 'Redis does not answer');
    },
  };
};

interface NewerJobsDependencies {
  conditions: Pick<Conditions, 'report'>;
  log: { error(fields: object, message: string): void };
  goneAfterMs: number;
}

/**
 * To be called with each job of a version that this daemon does not know: another daemon wrote it, and it waits for one
 * that does. A daemon that leaves jobs alone must not look ready: a rollout has to stop and wait for somebody.
 */
export const createOnNewerJob =
  ({ conditions, log, goneAfterMs }: NewerJobsDependencies) =>
  (queue: string, version: string): void => {
    const what = `jobs of version ${version} wait in ${queue}: this daemon cannot read them, so a newer one has to send them`;
    if (!conditions.report('jobs', what, { of: version, lastsMs: goneAfterMs })) return;
    log.error({ queue, version }, 'jobs of a version that this daemon does not know are left alone; upgrade it');
  };

export type OnNewerJob = ReturnType<typeof createOnNewerJob>;
