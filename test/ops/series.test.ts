/** Gauges of many protocols stay bounded, and what is left out is told. */
import { Gauge, Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { setHighest } from '../../src/ops/series.ts';

test('of many values the highest become series, and those of before are gone', async () => {
  const gauge = new Gauge({
    name: 'lag',
    help: 'lag',
    labelNames: ['service', 'protocol', 'source'],
    registers: [new Registry()],
  });
  const valuesOf = (...values: number[]) =>
    values.map((value) => ({ labels: { service: 'main', protocol: `p${value}`, source: 'inspections' }, value }));
  const shown = async () => (await gauge.get()).values.map(({ value }) => value).toSorted();
  expect(setHighest(gauge, valuesOf(1, 5, 3, 2), 2)).toBe(2);
  expect(await shown()).toEqual([3, 5]);
  expect(setHighest(gauge, valuesOf(4), 2)).toBe(0);
  expect(await shown()).toEqual([4]);
});
