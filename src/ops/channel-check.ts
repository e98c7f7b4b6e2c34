/**
 * Asks each channel every few minutes whether it may send at all, before an alert has to find out; at once where a message
 * was not accepted; and soon again where it failed.
 */
import type { ChannelKind } from '../alert.ts';
import { messageOf } from '../errors.ts';
import type { Health } from './health.ts';
import type { Outages } from './outages.ts';

/** Asks its provider whether the token is valid or the server is reachable; throws where it is not. */
export interface CheckedChannel {
  kind: ChannelKind;
  verify(signal: AbortSignal): Promise<unknown>;
}

export interface ChannelCheckDependencies {
  channels: readonly CheckedChannel[];
  health: Pick<Health, 'prove' | 'fail'>;
  outages: Pick<Outages, 'worked' | 'failed'>;
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

const checkOne = async (
  channel: CheckedChannel,
  { health, outages, signal }: ChannelCheckDependencies,
  onWorks = (): void => health.prove(`channel:${channel.kind}`),
): Promise<boolean> => {
  const name = `channel:${channel.kind}`;
  try {
    await channel.verify(AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    onWorks();
    outages.worked('channels', channel.kind);
    return true;
  } catch (error) {
    if (signal.aborted) return true;
    health.fail(name, messageOf(error));
    outages.failed('channels', channel.kind, error);
    return false;
  }
};

export interface ChannelCheck {
  /** To be called often: asks each channel only when that is due. */
  round(): Promise<void>;
  /** A message was not accepted: it may be the message, its destination, or the channel as a whole. Never rejects. */
  suspect(kind: ChannelKind): Promise<void>;
}

export const createChannelCheck = (dependencies: ChannelCheckDependencies): ChannelCheck => {
  const { channels, askEveryMs = ASK_EVERY_MS, now } = dependencies;
  const everyMs = Math.min(ASK_EVERY_MS, askEveryMs);
  const askedAt = new Map<ChannelKind, number>();
  /** How often each has failed in a row. */
  const failing = new Map<ChannelKind, number>();

  const ask = async (channel: CheckedChannel, onWorks?: () => void): Promise<void> => {
    askedAt.set(channel.kind, now());
    if (await checkOne(channel, dependencies, onWorks)) failing.delete(channel.kind);
    else failing.set(channel.kind, (failing.get(channel.kind) ?? 0) + 1);
  };

  const dueAfterMs = (kind: ChannelKind): number => {
    const times = failing.get(kind);
    return times === undefined ? everyMs : Math.min(everyMs, LATEST_AGAIN_MS, ASK_AGAIN_MS * 2 ** (times - 1));
  };

  const isDue = ({ kind }: CheckedChannel, afterMs: number): boolean =>
    now() - (askedAt.get(kind) ?? Number.NEGATIVE_INFINITY) >= afterMs;

  return {
    round: async () => {
      const due = channels.filter((one) => isDue(one, dueAfterMs(one.kind)));
      await Promise.all(due.map((one) => ask(one)));
    },
    suspect: async (kind) => {
      const channel = channels.find((one) => one.kind === kind);
      if (!channel || failing.has(kind) || !isDue(channel, SUSPECT_EVERY_MS)) return;
      // A token may be valid and still not be allowed to send: after a refusal this proves nothing.
      await ask(channel, () => {});
    },
  };
};
