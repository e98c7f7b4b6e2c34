import { expect, test } from 'vitest';
import { namesOf } from './promql.ts';

const metricsOf = (expression: string): string[] => namesOf(expression).selectors.map(({ metric }) => metric);

test('functions, operators, labels, durations and texts are no metrics', () => {
  expect(metricsOf('label_replace(a, "x", "y_$1", "z", "(.+)") and b offset 5m or c[5m:1m] > bool 1e3')).toEqual([
    'a',
    'b',
    'c',
  ]);
  expect(metricsOf('sum(a) by (x) / on (x) group_left (y) sum by (x, y) (rate(b{x="1"}[$__rate_interval]))')).toEqual([
    'a',
    'b',
  ]);
});

test('matchers and groupings are read whole', () => {
  expect(namesOf('sum without (x) (a{y=~"b{2}|}", z!="say \\"no\\""})')).toEqual({
    selectors: [
      {
        metric: 'a',
        matchers: [
          { label: 'y', operator: '=~', value: 'b{2}|}' },
          { label: 'z', operator: '!=', value: 'say \\"no\\"' },
        ],
      },
    ],
    grouping: ['x'],
  });
});

test('what is not understood is refused, not passed over', () => {
  expect(() => namesOf('{x="1"}')).toThrow('without a metric');
  expect(() => namesOf('a{x}')).toThrow('no matcher: x');
  expect(() => namesOf('sum by (x')).toThrow(') is missing');
  expect(() => namesOf('a # b')).toThrow('not understood from here: # b');
});
