/** Asks each channel kind now and then whether it may send at all, before an alert has to find out. */
import type { Channel } from '../channels/channel.ts';
import { messageOf } from '../errors.ts';
import type { Health } from './health.ts';
import type { Outages } from './outages.ts';

export interface ChannelCheckDependencies {
  channels: readonly Channel[];
  health: Health;
  outages: Outages;
  signal: AbortSignal;
  now(): number;
}

const ASK_EVERY_MS = 5 * 60_000;
/** A kind that failed is asked again sooner, so that its recovery shows. */
const ASK_AGAIN_MS = 30_000;
const TIMEOUT_MS = 10_000;

const proveOne = async (channel: Channel, { health, outages, signal }: ChannelCheckDependencies): Promise<boolean> => {
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

/** Gives a function to be called often: it asks each kind only when that is due. */
export const createChannelCheck = (dependencies: ChannelCheckDependencies): (() => Promise<void>) => {
  const { channels, now } = dependencies;
  const dueAt = new Map<string, number>();
  return async () => {
    const due = channels.filter(({ kind }) => now() >= (dueAt.get(kind) ?? 0));
    await Promise.all(
      due.map(async (channel) => {
        const works = await proveOne(channel, dependencies);
        dueAt.set(channel.kind, now() + (works ? ASK_EVERY_MS : ASK_AGAIN_MS));
      }),
    );
  };
};
