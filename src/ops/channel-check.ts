/** Asks each channel every few minutes whether it may send at all, before an alert has to find out. */
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
  now(): number;
}

const ASK_EVERY_MS = 5 * 60_000;
/** A channel that failed is asked again sooner, so that its recovery shows soon. */
const ASK_AGAIN_MS = 30_000;
const TIMEOUT_MS = 10_000;

const checkOne = async (
  channel: CheckedChannel,
  { health, outages, signal }: ChannelCheckDependencies,
): Promise<boolean> => {
  const name = `channel:${channel.kind}`;
  try {
    await channel.verify(AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]));
    health.prove(name);
    outages.worked('channels', channel.kind);
    return true;
  } catch (error) {
    if (signal.aborted) return true;
    health.fail(name, messageOf(error));
    outages.failed('channels', channel.kind, error);
    return false;
  }
};

/** Gives a function to be called often: it asks each channel only when that is due. */
export const createChannelCheck = (dependencies: ChannelCheckDependencies): (() => Promise<void>) => {
  const { channels, now } = dependencies;
  const dueAt = new Map<string, number>();
  return async () => {
    const due = channels.filter(({ kind }) => now() >= (dueAt.get(kind) ?? 0));
    await Promise.all(
      due.map(async (channel) => {
        const works = await checkOne(channel, dependencies);
        dueAt.set(channel.kind, now() + (works ? ASK_EVERY_MS : ASK_AGAIN_MS));
      }),
    );
  };
};
