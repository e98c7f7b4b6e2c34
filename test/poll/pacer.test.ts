import { describe, expect, test } from 'vitest';
import { createBudget, createPacer, type PacerSettings } from '../../src/poll/pacer.ts';
import { streamsOf } from '../../src/poll/stream.ts';

const streamsFor = (count: number) =>
  streamsOf(
    'main',
    Array.from({ length: count }, (_, n) => `Protocol ${n}`),
    ['inspections'],
  );

describe('the budget', () => {
  const setUp = () => {
    const time = { ms: 0 };
    return { time, budget: createBudget(4, () => time.ms) };
  };

  test('is halved by a 429, once for all that come together, and recovers when it is quiet', () => {
    const { time, budget } = setUp();
    for (let n = 0; n < 10; n += 1) budget.limited();
    expect(budget.current()).toBe(2);
    time.ms += 30_000;
    expect(budget.current()).toBeGreaterThan(2);
    time.ms += 120_000;
    expect(budget.current()).toBe(4);
  });

  test('is lowered by slow answers, but never to nothing', () => {
    const { time, budget } = setUp();
    budget.answered(1999);
    expect(budget.current()).toBe(4);
    for (let n = 0; n < 100; n += 1) {
      budget.answered(5000);
      time.ms += 5000;
    }
    expect(budget.current()).toBeLessThan(1);
    expect(budget.current()).toBeGreaterThan(0.2);
  });
});

describe('the pacer', () => {
  const setUp = (settings: Partial<PacerSettings> = {}) => {
    const time = { ms: 0 };
    const announced: (number | undefined)[] = [];
    const pacer = createPacer({
      interval: 'auto',
      requestsPerSecond: 4,
      sweepEvery: 60_000,
      leastMs: 1000,
      longestMs: 15_000,
      ...settings,
      onBudget: (_service, needed) => announced.push(needed),
      monotonic: () => time.ms,
    });
    return { time, announced, pacer };
  };

  test('a fixed interval is kept', () => {
    const { pacer } = setUp({ interval: 7000 });
    const [stream] = streamsFor(1);
    if (stream === undefined) throw new Error('no stream');
    pacer.assign('main', 100, 100);
    expect([pacer.everyMs(stream), pacer.gapMs('main'), pacer.state('main')]).toEqual([7000, 0, { everyMs: 7000 }]);
    expect(pacer.firstInMs(stream)).toBeLessThan(2000);
  });

  test('daemons share the budget by their streams', () => {
    const { pacer } = setUp();
    pacer.assign('main', 10, 20);
    expect(pacer.state('main').everyMs).toBeCloseTo(5455, 0);
  });

  test('a stream that brought alerts is read more often, for five minutes', () => {
    const { pacer, time } = setUp();
    const streams = streamsFor(40);
    const [busy, other] = streams;
    if (busy === undefined || other === undefined) throw new Error('no streams');
    pacer.assign('main', 40, 40);
    pacer.polled(busy, 1, undefined);
    time.ms += 1000;
    expect(pacer.everyMs(busy)).toBeLessThan(pacer.everyMs(other) / 3);
    time.ms += 301_000;
    pacer.everyMs(other);
    expect(pacer.everyMs(busy)).toBe(pacer.everyMs(other));
  });

  test('a budget that is too small is announced once, with the one that would suffice', () => {
    const { pacer, announced, time } = setUp();
    pacer.assign('main', 300, 300);
    expect(pacer.state('main')).toEqual({ everyMs: 15_000, needed: 25 });
    time.ms += 5000;
    pacer.state('main');
    pacer.assign('main', 30, 30);
    expect(Math.round(pacer.state('main').everyMs)).toBe(8571);
    expect(announced).toEqual([25, undefined]);
  });
});
