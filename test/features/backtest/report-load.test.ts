import { describe, expect, test } from 'vitest';
import { type LoadMessage, loadOf } from '../../../src/features/backtest/report.ts';

const T0 = Date.parse('2026-11-20T10:00:00Z');

/** Single alerts, each sent as long after it was ready as `waitMs` says. */
const singles = (times: readonly number[], waitMs = 0): LoadMessage[] =>
  times.map((at) => ({ at: at + waitMs, ready: [at], isDigest: false, amends: false }));

describe('the load of a destination', () => {
  test('nothing at all is no load', () => {
    expect(loadOf([])).toMatchObject({ alerts: 0, messages: 0, digests: 0, worstMinute: { messages: 0 } });
  });

  test('the worst minute may begin anywhere, and is no longer than a minute', () => {
    const times = [0, 20, 40, 90, 100, 110, 120, 149.999, 150].map((second) => T0 + second * 1000);
    expect(loadOf(singles(times)).worstMinute).toEqual({ at: T0 + 90_000, messages: 5 });
  });

  test('what is sent at once waits for nothing', () => {
    expect(loadOf(singles([T0, T0 + 1000])).worstBacklog).toMatchObject({ waitMs: 0, messages: 0 });
  });

  test('the alert that waits longest is reported with the messages before it', () => {
    const digest: LoadMessage = {
      at: T0 + 9000,
      ready: [T0 + 1000, ...Array.from({ length: 9 }, (_, n) => T0 + 2000 + n)],
      isDigest: true,
      amends: false,
    };
    const load = loadOf([...singles([T0 - 3000, T0]), ...singles([T0 + 500], 700), digest]);
    expect(load).toMatchObject({ alerts: 13, messages: 4, digests: 1 });
    expect(load.worstBacklog).toEqual({ at: T0 + 1000, waitMs: 8000, messages: 2 });
  });

  test('a message that takes the place of another calls nobody, but its alerts count', () => {
    const grown: LoadMessage = { at: T0 + 5000, ready: [T0 + 1000], isDigest: false, amends: true };
    expect(loadOf([...singles([T0]), grown])).toMatchObject({
      alerts: 2,
      messages: 1,
      worstMinute: { messages: 1 },
      worstBacklog: { waitMs: 4000 },
    });
  });
});
