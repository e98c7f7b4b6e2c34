import { expect, test } from 'vitest';
import { createNameFilter } from '../../src/poll/catalog.ts';

test.each([
  [['*'], [], true],
  [['Lend*'], [], true],
  [['Vault'], [], false],
  [['*'], ['Lending Pool'], false],
  [['Lending Pool'], ['Lend*'], false],
  [[], [], false],
])('include %j and exclude %j: %j', (include, exclude, isIncluded) => {
  expect(createNameFilter(include, exclude)('Lending Pool')).toBe(isIncluded);
});
