import { expect, test } from 'vitest';
import { ServiceError, type ServiceReason } from '../../src/errors.ts';
import { createKeyCheck } from '../../src/poll/admission.ts';
import { createFailureDetector } from '../../src/poll/failure-detector.ts';

const EVERY_MS = 15_000;
const never = new AbortController().signal;

const setUp = () => {
  const time = { now: 1_000_000 };
  const now = () => time.now;
  const detector = createFailureDetector(now);
  const answers: (ServiceReason | 'good')[] = [];
  const seen = { asked: 0, refused: 0 };
  const isGood = createKeyCheck(
    { detector, everyMs: EVERY_MS, monotonic: now },
    async () => {
      seen.asked += 1;
      const answer = answers.shift() ?? 'good';
      if (answer !== 'good') throw new ServiceError(answer, 'no');
    },
    () => {
      seen.refused += 1;
    },
  );
  return { time, detector, answers, seen, isGood: () => isGood(never) };
};

test('a good key is asked about once in a while', async () => {
  const { time, seen, isGood } = setUp();
  expect([await isGood(), await isGood()]).toEqual([true, true]);
  time.now += EVERY_MS - 1;
  await isGood();
  expect(seen.asked).toBe(1);
  time.now += 1;
  await isGood();
  expect(seen).toEqual({ asked: 2, refused: 0 });
});

test('those who ask at the same time share one question', async () => {
  const { seen, isGood } = setUp();
  expect(await Promise.all([isGood(), isGood(), isGood()])).toEqual([true, true, true]);
  expect(seen.asked).toBe(1);
});

test('a refused key is reported once, and works again with the first answer', async () => {
  const { detector, answers, seen, isGood } = setUp();
  answers.push('unauthorized', 'unauthorized');
  expect([await isGood(), await isGood()]).toEqual([false, false]);
  expect(detector.trouble()?.kind).toBe('refused');
  expect(await isGood()).toBe(true);
  expect(detector.trouble()).toBeUndefined();
  expect(seen).toEqual({ asked: 3, refused: 1 });
});

test('a question without an answer changes nothing', async () => {
  const { answers, seen, isGood } = setUp();
  answers.push('unreachable', 'unauthorized', 'failed');
  expect([await isGood(), await isGood(), await isGood()]).toEqual([true, false, false]);
  expect(seen).toEqual({ asked: 3, refused: 1 });
});
