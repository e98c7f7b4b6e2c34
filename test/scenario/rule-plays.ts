/** What a test of the rules on real daemons shares: what they run on, and what was shown by it. */

import { whyNoSmallDisk } from '../fault/small-disk.ts';
import { EVALUATED, lacksPromtool, promtoolOn } from '../support/promtool.ts';
import { ownRedis } from '../support/redis-server.ts';
import type { AskedDaemon } from './daemons.ts';
import { type Breakage, type Played, RULES, watchPhases } from './rule-phases.ts';
import type { World } from './world.ts';

export type OnFinished = (stop: () => Promise<void>) => void;

const noDisk = whyNoSmallDisk();

/** Those that only the made-up series of prometheus-rules.test.ts show, and why. */
export const SYNTHETIC_ONLY: Readonly<Record<string, string>> =
  noDisk === undefined ? {} : { TocsinDiskNearlyFull: noDisk };

/** The rules by the file that shows them: rules-on-daemons.test.ts and rules-on-daemons-limits.test.ts. */
export const SHOWN = {
  plainly: [
    ...['TocsinGone', 'TocsinServiceUnreadable', 'TocsinProtocolUnread', 'TocsinProtocolSilent', 'TocsinReadingLate'],
    ...['TocsinWatchesNothing', 'TocsinBoundReached', 'TocsinItemsNotUnderstood', 'TocsinAuditDifference'],
    'TocsinInspectionsStrange',
    ...['TocsinAuditUnfinished', 'TocsinDeliveriesDead', 'TocsinDeadLettersKept', 'TocsinSenderBroken'],
    ...['TocsinChannelFailing', 'TocsinDestinationBroken', 'TocsinRetries', 'TocsinQueueStands', 'TocsinUndelivered'],
    ...['TocsinAlertsLate', 'TocsinAlertsOftenLate', 'TocsinFallbackUsed', 'TocsinAlertsHeld', 'TocsinUnroutable'],
    ...['TocsinRedisDown', 'TocsinConfigRefused', 'TocsinConfigDiffers'],
  ],
  withLimits: [
    ...['TocsinRestarts', 'TocsinDeliveriesDead', 'TocsinDeadLettersKept', 'TocsinDeadLettersRemoved'],
    ...['TocsinDestinationBroken', 'TocsinQueueGrows', 'TocsinQueueSilent', 'TocsinJobsUnreadable'],
    ...['TocsinAlertsHeld', 'TocsinHeldRefused', 'TocsinRedisNotDurable', 'TocsinClockOff', 'TocsinHeartbeatFails'],
    ...['TocsinDaemonMissed'],
    ...['TocsinEventLoopBlocked', 'TocsinFilesExhausted'],
    ...(noDisk === undefined ? ['TocsinDiskNearlyFull'] : []),
  ],
};

/** That of the test run keeps nothing on disk, which is a trouble of its own after a minute. */
export const durableRedis = async (onFinished: OnFinished) => {
  const redis = await ownRedis('--appendonly', 'yes');
  onFinished(() => redis.remove());
  return { redis, redisUrl: `redis://127.0.0.1:${redis.port}` };
};

/** Gives what takes them back. */
export const addChannel = (
  { sandbox: { service } }: World,
  protocol: string,
  ...added: { name: string; contacts: string[] }[]
) => {
  const found = service.protocols().find(({ name }) => name === protocol);
  const channels = found?.channels ?? [];
  const ref = { protocol, apiKey: found?.apiKey ?? '' };
  service.replaceChannels(ref, [...channels, ...added]);
  return () => service.replaceChannels(ref, channels);
};

interface Shown {
  fires: readonly string[];
  /** What promtool says. */
  said: Promise<string>;
}

/** Plays breakages; promtool, where there is one, judges each while the next is played. */
export const createPlays = () => {
  const hasPromtool = lacksPromtool() === undefined;
  const shown = new Map<string, Shown>();

  const judge = async ({ test }: Played): Promise<string> => {
    if (!hasPromtool) return '';
    const tests = { rule_files: [RULES], ...EVALUATED, tests: [test] };
    return (await promtoolOn(tests, 'test', 'rules')).said;
  };

  return {
    /** By what was broken. */
    shown: shown as ReadonlyMap<string, Shown>,
    /** The rules that fired. */
    fired: (): string[] => [...new Set([...shown.values()].flatMap(({ fires }) => fires))].toSorted(),
    /** Of one daemon, which is well now. While all is well, every protocol has a finding and it arrives. */
    of: async (world: World, running: () => Pick<AskedDaemon, 'ask' | 'watching'>) => {
      await running().watching();
      const scrape = () =>
        running()
          .ask('/metrics')
          .then(
            ({ text }) => text,
            () => '',
          );
      const phases = await watchPhases(scrape, async () => {
        for (const { name } of world.sandbox.service.protocols()) world.critical(name);
        await world.delivered();
      });
      return async (name: string, breakage: Breakage): Promise<void> => {
        const played = await phases.play(breakage);
        shown.set(name, { fires: played.fires, said: judge(played) });
      };
    },
  };
};
