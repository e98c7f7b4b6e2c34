import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { LIMITS } from '../../src/app/context.ts';
import { createConditions } from '../../src/ops/conditions.ts';
import { createHealth } from '../../src/ops/health.ts';
import { createLoopWatch, loopOf } from '../../src/ops/loop-watch.ts';
import { createLines } from './lines.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

let stop = (): void => {};

afterEach(() => {
  stop();
  vi.useRealTimers();
});

const ROUND_MS = 15_000;

const setUp = () => {
  const now = Date.now;
  const health = createHealth({ now });
  const { lines, log } = createLines();
  const conditions = createConditions({ now });
  const stuck: string[] = [];
  const redis = { isReady: true };
  const delay = { worstMs: 0 };
  /** When each queue's last canary came through; a queue that stands still keeps its time. */
  const passedAt = { slack: 0, email: 0 };
  const standing = new Set<string>();
  const refusing = { is: false };
  const sent: string[] = [];
  /** Workers that ask for no jobs any more. */
  const silent = new Set<string>();
  const rebuilt: string[] = [];
  const watch = createLoopWatch({
    kinds: [
      { kind: 'slack', boundMs: 45_000 },
      { kind: 'email', boundMs: 50_000 },
    ],
    pollBoundMs: 45_000,
    isRedisReady: () => redis.isReady,
    rebuild: async (kind) => void rebuilt.push(kind),
    canaryAt: async (kind) => (kind === 'slack' ? passedAt.slack : passedAt.email),
    sendCanary: async (kind) => {
      if (refusing.is) throw new Error('OOM command not allowed');
      sent.push(kind);
      if (!standing.has(kind)) Object.assign(passedAt, { [kind]: now() });
    },
    health,
    log,
    delay: { worstMs: () => delay.worstMs },
    conditions,
    onStuck: (reason) => stuck.push(reason),
    ...LIMITS,
    now,
  });
  stop = watch.stop;
  /** Rounds of the maintenance loop, as the daemon makes them. */
  const run = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      watch.turned();
      health.beat('poll');
      for (const kind of ['slack', 'email'] as const) if (!silent.has(kind)) health.beat(loopOf(kind));
      await watch.lookAtCanaries().catch(() => {});
      await vi.advanceTimersByTimeAsync(ROUND_MS);
    }
  };
  return { health, lines, conditions, stuck, redis, delay, standing, refusing, sent, silent, rebuilt, run };
};

describe('the loop watch', () => {
  test('tells that the event loop was blocked, once a minute, but not for what the start took', async () => {
    const { lines, delay, run } = setUp();
    delay.worstMs = 70;
    await run(1);
    expect(lines).toEqual([]);
    await run(1);
    const told = { level: 'warn', message: 'the event loop was blocked', fields: { worstMs: 70, times: 1 } };
    expect(lines).toEqual([told]);
    await run(2);
    expect(lines).toEqual([told]);
    await run(3);
    expect(lines).toHaveLength(2);
  });

  test('is content while workers ask and canaries come through, of which every second round sends one', async () => {
    const { health, stuck, sent, conditions, run } = setUp();
    await run(40);
    expect([stuck, conditions.current()]).toEqual([[], []]);
    expect(sent.filter((kind) => kind === 'slack')).toHaveLength(20);
    expect(health.live()).toMatchObject({
      status: 'ok',
      loops: [{ name: 'tend' }, { name: 'poll' }, { name: 'deliver:slack' }, { name: 'deliver:email' }],
    });
  });

  test('a worker has to ask, before it counts as one that turns', async () => {
    const { health, silent, run } = setUp();
    silent.add('email');
    await run(1);
    expect(health.lacking(60_000)).toEqual(['the loop deliver:email has not turned yet']);
    silent.clear();
    await run(1);
    expect(health.lacking(60_000)).toEqual([]);
  });

  test('a queue that takes no canary for a minute is a trouble until it takes one', async () => {
    const { conditions, standing, rebuilt, stuck, run } = setUp();
    await run(4);
    standing.add('email');
    await run(4);
    expect(conditions.current()).toEqual([]);
    await run(3);
    expect(conditions.current()).toMatchObject([{ name: 'queue', of: 'email' }]);
    // A worker that asks in vain has nothing of a restart.
    expect([rebuilt, stuck]).toEqual([[], []]);
    standing.delete('email');
    await run(3);
    expect(conditions.current()).toEqual([]);
  });

  test('an event loop that is blocked for half a second at a time is a trouble until it is not', async () => {
    const { conditions, delay, run } = setUp();
    await run(1);
    delay.worstMs = 600;
    await run(1);
    expect(conditions.current()).toMatchObject([{ name: 'loop', what: expect.stringContaining('600 ms') }]);
    delay.worstMs = 500;
    await run(1);
    expect(conditions.current()).toEqual([]);
  });

  test('names the worker that asks for nothing for three minutes, once', async () => {
    const { health, stuck, silent, run } = setUp();
    await run(4);
    silent.add('email');
    await run(30);
    expect(stuck).toEqual([expect.stringMatching(/^the loop 'deliver:email' has not run for 18[5-9] s$/)]);
    expect(health.live().loops.filter(({ status }) => status === 'stuck')).toMatchObject([{ name: 'deliver:email' }]);
  });

  test('restarts a worker that asks for nothing within three rounds, once, and is content when that helps', async () => {
    const { health, stuck, silent, rebuilt, lines, run } = setUp();
    await run(2);
    silent.add('email');
    await run(5);
    expect(rebuilt).toEqual(['email']);
    expect(health.live().loops.filter(({ status }) => status === 'stuck')).toMatchObject([{ name: 'deliver:email' }]);
    expect(lines.filter(({ level }) => level === 'error')).toMatchObject([{ fields: { kind: 'email' } }]);
    silent.delete('email');
    await run(30);
    expect([rebuilt, stuck, health.live().status]).toEqual([['email'], [], 'ok']);
  });

  test('blames no queue where the clock was set an hour ahead', async () => {
    const { conditions, standing, run } = setUp();
    await run(4);
    standing.add('slack');
    vi.setSystemTime(Date.now() + 3_600_000);
    await vi.advanceTimersByTimeAsync(1000);
    await run(1);
    expect(conditions.current()).toEqual([]);
  });

  test('blames no queue while Redis takes no canary', async () => {
    const { conditions, refusing, standing, run } = setUp();
    refusing.is = true;
    standing.add('slack').add('email');
    await run(40);
    expect(conditions.current()).toEqual([]);
  });

  test('names the polls where none begins or ends', async () => {
    const { health, stuck, run } = setUp();
    await run(1);
    health.beat = () => {};
    await run(1);
    await vi.advanceTimersByTimeAsync(50_000);
    expect(health.live().loops.filter(({ status }) => status === 'stuck')).toContainEqual(
      expect.objectContaining({ name: 'poll' }),
    );
    await vi.advanceTimersByTimeAsync(140_000);
    expect(stuck).toContainEqual(expect.stringMatching(/^the loop 'poll' has not run/));
  });

  test('names its own loop where that has stopped', async () => {
    const { stuck, run } = setUp();
    await run(1);
    await vi.advanceTimersByTimeAsync(200_000);
    expect(stuck[0]).toMatch(/^the loop 'tend' has not run/);
  });

  test('blames nobody while Redis is away, and gives everybody the whole time again afterwards', async () => {
    const { stuck, redis, standing, silent, conditions, run } = setUp();
    redis.isReady = false;
    for (const all of [standing, silent]) all.add('slack').add('email');
    await run(40);
    expect([stuck, conditions.current()]).toEqual([[], []]);
    redis.isReady = true;
    await run(4);
    expect(conditions.current()).toEqual([]);
    await run(7);
    expect(stuck).toEqual([]);
    expect(conditions.current()).toHaveLength(2);
    await run(2);
    expect(stuck).toHaveLength(2);
  });

  test('logs that the event loop was late', async () => {
    const { lines } = setUp();
    vi.setSystemTime(Date.now() + 5000);
    await vi.advanceTimersByTimeAsync(1000);
    expect(lines).toEqual([{ level: 'warn', fields: { lagMs: 5000 }, message: 'the event loop was late' }]);
  });
});
