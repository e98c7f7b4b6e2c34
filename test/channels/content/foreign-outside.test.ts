import { expect, test } from 'vitest';
import { idIn, jsonObjectIn, objectIn, textIn } from '../../../src/channels/content/foreign.ts';

test.each([
  ['{"id":"7"}', { id: '7' }],
  ['["id"]', {}],
  ['"id"', {}],
  ['null', {}],
  ['<html>', {}],
  ['', {}],
])('the object in %j', (text, object) => expect(jsonObjectIn(text)).toEqual(object));

test.each([[undefined], [null], ['x'], [1], [['x']]])('%j has no fields', (value) =>
  expect(objectIn(value)).toEqual({}),
);

test('a text is a text, and an id may be a number', () => {
  expect([textIn('x'), textIn(1), textIn(null)]).toEqual(['x', '', '']);
  expect([idIn('x'), idIn(-1001), idIn({})]).toEqual(['x', '-1001', '']);
});
