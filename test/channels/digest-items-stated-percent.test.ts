import { expect, test } from 'vitest';
import { statedPercent } from '../../src/channels/digest-items.ts';

test.each([
  ['Token balance dropped 90% below its 24 h mean', 90],
  ['dropped 23.5 %, then 12 %', 23.5],
  ['fiel um 12,5 %', 12.5],
  ['0.00001 % of the supply', 0.00001],
  ['100%', 100],
  ['rose by 1100%', 0],
  ['rose by 1,100%', 0],
  ['rose by 4,050%', 0],
  ['rose by 1,234,567.8%', 0],
  ['version 1.2.3%', 0],
  ['no number %', 0],
])('%s', (message, percent) => {
  expect(statedPercent([{ message }])).toBe(percent);
});

test('the largest of all detectors counts, as far as it stands at the beginning of a text', () => {
  expect(statedPercent([{ message: '3%' }, { message: '40%' }])).toBe(40);
  expect(statedPercent([{ message: `${' '.repeat(600)}99%` }])).toBe(0);
});
