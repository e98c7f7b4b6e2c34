import { expect, test } from 'vitest';
import { createRedisCheck } from '../../src/ops/checks.ts';
import { createHealth } from '../../src/ops/health.ts';

const setUp = () => {
  const time = { now: 0 };
  const health = createHealth({ now: () => time.now });
  health.expect('redis', { provenWithinMs: 15_000 });
  const check = createRedisCheck(health, () => time.now);
  return {
    check,
    result: () => health.ready().checks[0],
    /** Seconds in which the daemon looks, and nothing answers. */
    wait: (seconds: number): void => {
      for (let second = 0; second < seconds; second += 1) {
        time.now += 1000;
        check.look();
      }
    },
    sleep: (ms: number): void => {
      time.now += ms;
      check.look();
    },
  };
};

test('a Redis that answers is well, and one that is silent for a few seconds is not', () => {
  const { check, result, wait } = setUp();
  check.answered();
  wait(3);
  expect(result()).toMatchObject({ status: 'ok' });
  wait(1);
  expect(result()).toMatchObject({ status: 'failing', detail: 'Redis does not answer' });
  check.answered();
  expect(result()).toMatchObject({ status: 'ok' });
});

test('says what Redis answered instead', () => {
  const { check, result, wait } = setUp();
  check.refused(new Error('OOM command not allowed'));
  wait(4);
  expect(result()?.detail).toBe('Redis does not take our commands: OOM command not allowed');
});

test('a daemon that was blocked could hear no answer', () => {
  const { check, result, sleep } = setUp();
  check.answered();
  sleep(10_000);
  expect(result()).toMatchObject({ status: 'ok' });
});
