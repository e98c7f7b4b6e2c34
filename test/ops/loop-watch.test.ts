import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createHealth } from '../../src/ops/health.ts';
import { createLoopWatch } from '../../src/ops/loop-watch.ts';
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
  const stuck: string[] = [];
  const redis = { isReady: true };
  const delay = { worstMs: 0 };
  /** When each queue's last canary came through; a queue that stands still keeps its time. */
  const passedAt = { slack: 0, email: 0 };
  const standing = new Set<string>();
  const watch = createLoopWatch({
    kinds: ['slack', 'email'],
    isRedisReady: () => redis.isReady,
    sendCanary: async (kind) => {
      const passed = kind === 'slack' ? passedAt.slack : passedAt.email;
      if (!standing.has(kind)) Object.assign(passedAt, { [kind]: now() });
      return passed;
    },
    health,
    log,
    delay: { worstMs: () => delay.worstMs },
    onStuck: (reason) => stuck.push(reason),
    now,
  });
  stop = watch.stop;
  /** Rounds of the maintenance loop, as the daemon makes them. */
  const run = async (rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      await watch.sendCanaries();
      await vi.advanceTimersByTimeAsync(ROUND_MS);
    }
  };
  return { health, lines, stuck, redis, delay, standing, run };
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

  test('is content while canaries come through', async () => {
    const { health, stuck, run } = setUp();
    await run(40);
    expect(stuck).toEqual([]);
    expect(health.live()).toMatchObject({
      status: 'ok',
      loops: [{ name: 'tend' }, { name: 'deliver:slack' }, { name: 'deliver:email' }],
    });
  });

  test('names the queue whose canaries stay away for three minutes, once', async () => {
    const { health, stuck, standing, run } = setUp();
    await run(4);
    standing.add('email');
    await run(30);
    expect(stuck).toEqual([expect.stringMatching(/^the loop 'deliver:email' has not run for 18[0-9] s$/)]);
    expect(health.live().loops.filter(({ status }) => status === 'stuck')).toMatchObject([{ name: 'deliver:email' }]);
  });

  test('names its own loop where that has stopped', async () => {
    const { stuck, run } = setUp();
    await run(1);
    await vi.advanceTimersByTimeAsync(200_000);
    expect(stuck[0]).toMatch(/^the loop 'tend' has not run/);
  });

  test('blames nobody while Redis is away, and gives everybody the whole time again afterwards', async () => {
    const { stuck, redis, standing, run } = setUp();
    redis.isReady = false;
    standing.add('slack').add('email');
    await run(40);
    expect(stuck).toEqual([]);
    redis.isReady = true;
    await run(11);
    expect(stuck).toEqual([]);
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
