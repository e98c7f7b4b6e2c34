/** One seed: two daemons that share the streams, or fight for them, and a Redis that forgets. */
import type { Redis } from 'ioredis';
import type { Alert } from '../../../src/alert.ts';
import type { MirroredCursor } from '../../../src/poll/mirror.ts';
import type { Stream } from '../../../src/poll/stream.ts';
import { createRandom } from '../../../src/sandbox/random.ts';
import { createDaemon, openKey, type SimulatedDaemon } from './daemon.ts';
import { openSeedRedis } from './redis.ts';
import { createService, MINUTE, REGROUPED, SECOND, SETTINGS, STREAMS, T0, TRACKS } from './service.ts';

const STEPS = 60;

class Crash extends Error {}

export const playStory = async (seed: number, shared: Redis, prefix: string) => {
  const random = createRandom(`memory ${seed}`);
  const time = { now: T0 + 2 * SETTINGS.lookback };
  const isSilent = random.chance(0.2);
  const { redis, ...server } = openSeedRedis(shared, prefix, isSilent);
  const service = createService(random, time);
  const problems: string[] = [];
  const told: string[] = [];
  const counts = { items: 0, quiet: 0, dispatched: 0, failovers: 0, crashes: 0, sets: 0 };
  const delivered = new Set<string>();
  /** How often each was queued since something happened that may double it. */
  const times = new Map<string, number>();
  let trouble: 'none' | 'crash-before' | 'crash-after' | 'failover' = 'none';

  const disturb = (what: string): void => {
    told.push(`${(time.now - T0) / SECOND}: ${what}`);
    times.clear();
  };
  const failOver = async (): Promise<void> => {
    counts.failovers += 1;
    disturb('failover');
    await server.failOver();
  };
  const noteQueued = (alerts: readonly Alert[]): void => {
    counts.dispatched += alerts.length;
    for (const { itemId, id } of alerts) {
      const before = times.get(id) ?? 0;
      if (before > 0) problems.push(`${itemId} was queued again`);
      times.set(id, before + 1);
      told.push(`${(time.now - T0) / SECOND}: ${itemId} is queued`);
    }
  };
  const open = (stateFile: Map<string, MirroredCursor>): SimulatedDaemon =>
    createDaemon({
      ...{ redis, prefix, service, time, stateFile },
      onDispatch: async (when, alerts) => {
        if (trouble === `crash-${when}`) throw new Crash();
        if (when === 'before') return;
        noteQueued(alerts);
        if (trouble !== 'failover') return;
        trouble = 'none';
        await failOver();
      },
    });
  const files = [new Map<string, MirroredCursor>(), new Map<string, MirroredCursor>()];
  const daemons = files.map(open);
  const restart = (index: number): void => {
    disturb(`daemon ${index} starts`);
    daemons[index] = open(files[index] ?? new Map());
  };

  const poll = async (index: number, stream: Stream): Promise<void> => {
    try {
      const { outcome, alerts } = (await daemons[index]?.poll(stream)) ?? {};
      if (outcome === 'read' && alerts === 0) counts.quiet += 1;
    } catch (error) {
      if (error instanceof Crash) {
        trouble = 'none';
        counts.crashes += 1;
        restart(index);
      } else if (!String(error).includes('lost')) throw error;
    }
  };
  const both = (stream: Stream) => Promise.all([poll(0, stream), poll(1, stream)]);

  const openIds = async (): Promise<Set<string>> =>
    new Set((await Promise.all(TRACKS.map((track) => shared.zrange(openKey(prefix, track), '0', '-1')))).flat());
  const deliver = async (): Promise<void> => {
    for (const track of TRACKS) {
      for (const id of await shared.zrange(openKey(prefix, track), '0', '-1')) {
        if (!random.chance(0.5)) continue;
        delivered.add(id);
        await redis.zrem(openKey(prefix, track), id);
      }
    }
  };
  const set = async (): Promise<void> => {
    const track = random.pick(TRACKS as [(typeof TRACKS)[number]]);
    // What is written from now on is dated after it.
    const to = time.now - SETTINGS.lookback - random.below(30 * MINUTE);
    counts.sets += 1;
    disturb(`cursor set ${track.source} of ${track.protocol}`);
    service.skipTo(track.source, track.protocol, to);
    await daemons[0]?.cursors.set(track, to);
  };

  const streamsNow = (): Stream => random.pick([...STREAMS, ...STREAMS, ...REGROUPED] as [Stream]);
  const one = (): number => random.below(2);
  const empty = async (): Promise<void> => {
    disturb('emptied');
    await server.empty();
  };
  const crowd = () => Promise.all([both(streamsNow()), ...daemons.map((daemon) => daemon.commit())]);
  const arm = (): void => {
    trouble = isSilent ? 'crash-after' : random.pick(['crash-before', 'crash-after', 'failover']);
  };
  /** What may happen, and how often. */
  const events: [weight: number, event: () => unknown][] = [
    [40, () => poll(one(), streamsNow())],
    [10, () => both(streamsNow())],
    [12, () => daemons[one()]?.commit()],
    [4, crowd],
    [10, deliver],
    [6, () => daemons[one()]?.follow()],
    [6, server.save],
    [3, failOver],
    [1, empty],
    [2, set],
    [2, () => restart(one())],
    [3, arm],
    [1, service.storm],
  ];
  const bag = events.flatMap(([weight, event]) => Array.from({ length: weight }, () => event));
  const happen = async (): Promise<void> => void (await random.pick(bag as [() => unknown])());

  for (let step = 0; step < STEPS; step += 1) {
    service.some();
    time.now += random.pick([1, 1, 2, 5, 15, 70, 20 * 60]) * (random.chance(0.5) ? SECOND : SECOND / 2);
    await happen();
  }
  trouble = 'none';
  service.calm();
  for (let round = 0; round < 4; round += 1) {
    time.now += SETTINGS.sweepEvery + SECOND;
    for (const stream of STREAMS) for (const index of [0, 1]) await poll(index, stream);
    for (const daemon of daemons) await daemon.commit();
  }
  const queued = await openIds();
  const missed = service.owed().filter((id) => !queued.has(id) && !delivered.has(id));
  problems.push(...missed.map((id) => `${id} was lost`));
  counts.items = service.count();
  return { problems, counts, told, isSilent };
};
