import { createHistogram } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { replaceLoopLag } from '../../src/ops/loop-delay.ts';

/** Rounds of 1 to 100 ms, in nanoseconds. */
const rounds = () => {
  const histogram = createHistogram();
  for (let ms = 1; ms <= 100; ms += 1) histogram.record(ms * 1e6);
  return histogram;
};

test('each statistic of the rounds is a metric in seconds, and they start again after a scrape', async () => {
  const registry = new Registry();
  const set = replaceLoopLag(registry, rounds());
  const shown = async () => {
    set();
    const metrics = await registry.getMetricsAsJSON();
    return Object.fromEntries(
      metrics.map(({ name, values }) => [
        name.replace(/^nodejs_eventloop_lag_|_seconds$/g, ''),
        Math.round(Number(values[0]?.value) * 1000),
      ]),
    );
  };
  expect(await shown()).toEqual({ min: 1, max: 100, mean: 50, stddev: 29, p50: 50, p90: 90, p99: 99 });
  expect(await shown()).toMatchObject({ max: 0, p99: 0 });
});
